import type {
  AssetStatus,
  AssetType,
  CommentVisibility,
  CustomFieldDefinition,
  CustomFields,
  LinkType,
  NewRequestForm,
  Priority,
  ProjectStatus,
  RequestForm,
  RequestFormField,
  TaskStatus,
  TicketCategory,
  TicketStatus,
  TicketType,
  WebhookFilter,
} from '../contract/src/index.ts';
import type { Prisma } from '../server/generated/prisma/client.ts';
import { redactedText } from '../server/src/resources/privacy/redacted-copy.ts';

/* The rows of the demo workspace. `seed.ts` writes them. Days are relative to the day of the seed. */

export const people = {
  ada: {
    name: 'Ada Okafor',
    email: 'ada.okafor@acme.example',
    role: 'ADMIN',
    jobTitle: 'Head of IT',
    department: 'IT',
    phone: '+49 341 5550 100',
    timeZone: 'Europe/Berlin',
  },
  jonas: {
    name: 'Jonas Weber',
    email: 'jonas.weber@acme.example',
    role: 'AGENT',
    jobTitle: 'Support engineer',
    department: 'IT',
    phone: '+49 341 5550 101',
    timeZone: 'Europe/Berlin',
  },
  priya: {
    name: 'Priya Raman',
    email: 'priya.raman@acme.example',
    role: 'REQUESTER',
    jobTitle: 'Accountant',
    department: 'Finance',
    phone: '+49 341 5550 214',
    timeZone: 'Europe/Berlin',
  },
  exporter: {
    name: 'Nightly export',
    email: 'it-operations@acme.example',
    role: 'AGENT',
    kind: 'SERVICE',
  },
} as const;
export type Person = keyof typeof people;

/** The demo teams, oldest first. */
export const teams = {
  serviceDesk: {
    name: 'Service desk',
    description: 'First contact for all incidents and requests.',
    members: ['ada', 'jonas'],
  },
  network: { name: 'Network', description: 'Switches, WLAN and VPN of all sites.', members: ['ada'] },
  migration: { name: 'Mail migration', description: null, active: false, members: ['jonas'] },
} as const satisfies Record<
  string,
  { name: string; description: string | null; active?: boolean; members: readonly Person[] }
>;
type DemoTeam = keyof typeof teams;

const toOption = ([value, label]: [string, string]) => ({ value, label, active: true });

type DemoField = Pick<CustomFieldDefinition, 'resource' | 'key' | 'type' | 'label' | 'description' | 'options'>;

/** The definitions of custom fields, which the values of all demo tickets and assets fit. */
export const fields: (DemoField & { filterable?: boolean })[] = [
  {
    ...{ resource: 'TICKET', key: 'site', type: 'SELECT', label: 'Site', description: 'Where the problem occurs.' },
    options: [
      toOption(['Berlin', 'Berlin']),
      toOption(['Leipzig', 'Leipzig']),
      toOption(['home office', 'Home office']),
    ],
    filterable: true,
  },
  {
    ...{ resource: 'TICKET', key: 'affectedUsers', type: 'NUMBER', label: 'Affected users', description: null },
    options: null,
  },
  {
    ...{ resource: 'TICKET', key: 'risk', type: 'SELECT', label: 'Risk', description: 'The risk of a change.' },
    options: [toOption(['low', 'Low']), toOption(['medium', 'Medium']), toOption(['high', 'High'])],
    filterable: true,
  },
  {
    ...{ resource: 'ASSET', key: 'costCentre', type: 'TEXT', label: 'Cost centre', description: null },
    options: null,
  },
];

type DemoForm = Pick<NewRequestForm, 'key' | 'name' | 'type'> &
  Partial<Pick<RequestForm, 'description' | 'priority' | 'tags' | 'titleTemplate'>> & {
    category: TicketCategory;
    categoryConfigId?: string;
    team: DemoTeam;
    fields: (Pick<RequestFormField, 'key'> & Partial<RequestFormField>)[];
  };

/** The demo request forms. */
export const forms: DemoForm[] = [
  {
    ...{ key: 'laptop', name: 'New laptop', description: 'Request a laptop for yourself or a colleague.' },
    ...{ type: 'SERVICE_REQUEST', category: 'HARDWARE', team: 'serviceDesk', tags: ['hardware-request'] },
    titleTemplate: 'Laptop for {site}',
    fields: [{ key: 'site', required: true, help: 'Where do you work?' }],
  },
  {
    ...{ key: 'vpn-access', name: 'VPN access', description: 'Request access to the network from outside the office.' },
    ...{ type: 'SERVICE_REQUEST', category: 'ACCESS', categoryConfigId: 'network/vpn', team: 'network' },
    fields: [{ key: 'site', fixed: 'home office' }],
  },
  {
    ...{
      key: 'outage',
      name: 'Report an outage',
      type: 'INCIDENT',
      category: 'NETWORK',
      priority: 'HIGH',
      team: 'network',
    },
    titleTemplate: 'Outage in {site}, {affectedUsers} users affected',
    fields: [
      { key: 'site', required: true },
      { key: 'affectedUsers', default: 1, help: 'Estimate the number.' },
    ],
  },
];

/** The rows that belong to no user, by their Prisma model. Parents come before their children. */
export const plainRows = {
  ticketCategory: [
    { id: 'facilities', name: 'Facilities' },
    { id: 'facilities/badges', name: 'Door badges', parentId: 'facilities' },
    { id: 'facilities/fax', name: 'Fax machines', parentId: 'facilities', category: 'OTHER', active: false },
    { id: 'network', name: 'Network', category: 'NETWORK' },
    { id: 'network/vpn', name: 'VPN', parentId: 'network', category: 'NETWORK' },
    { id: 'network/wlan', name: 'WLAN', parentId: 'network', category: 'NETWORK' },
  ] satisfies Omit<Prisma.TicketCategoryCreateManyInput, 'tenantId'>[],
};

type TicketFacts = [
  createdDaysAgo: number,
  type: TicketType,
  category: TicketCategory | null,
  priority: Priority,
  status: TicketStatus,
  requester: Person,
  assignee: Person | null,
  /**
   * The number of hours from the creation of the ticket to its resolution. If the ticket is unresolved, the number of
   * hours to its last change.
   */
  hours: number,
];

interface TicketExtras {
  /** The ticket number of the parent ticket, which must be earlier in `tickets`. */
  parent?: string;
  team?: DemoTeam;
  watchers?: Person[];
  /** The tags of the assets that the ticket concerns. */
  concerned?: string[];
  /** The tags of the ticket, in ascending order. */
  tags?: string[];
  categoryConfigId?: string;
  externalId?: string;
  customFields?: CustomFields;
  /** The start and the end of the planned window, in hours after the creation of the ticket. */
  planned?: [start: number, end: number];
  /** The comments on the ticket, oldest first. No comment is later than the last change of the ticket. */
  comments?: CommentFacts[];
}

export type CommentFacts = [
  hoursLater: number,
  author: Person,
  visibility: CommentVisibility,
  body: string,
  externalId?: string,
];

/** The demo tickets, oldest first. */
export const tickets: [
  facts: TicketFacts,
  title: string,
  description: string,
  resolution?: string | null,
  extras?: TicketExtras,
][] = [
  [
    [41, 'SERVICE_REQUEST', 'HARDWARE', 'LOW', 'CLOSED', 'priya', 'jonas', 50],
    'Second monitor for the accounting desk',
    'I compare invoices with bank statements all day. A second 27-inch monitor would help. Approved by Ada.',
    'Installed a Dell U2723QE on desk 2.14.',
  ],
  [
    [40, 'INCIDENT', 'EMAIL', 'MEDIUM', 'CLOSED', 'priya', 'jonas', 3],
    'Outlook keeps asking for the password',
    'Since I changed my password yesterday, Outlook asks for it every few minutes. Webmail works.',
    'Removed the old password from the Windows credential manager.',
  ],
  [
    [39, 'CHANGE', 'NETWORK', 'HIGH', 'CLOSED', 'ada', 'ada', 60],
    'Replace the core switch in Leipzig',
    'The old core switch gets no more firmware. Swap it for the new one, move the uplinks, check all VLANs.',
    'Done within the window. All VLANs and uplinks tested; the old switch stays in the rack for two weeks.',
    {
      team: 'network',
      watchers: ['jonas'],
      externalId: 'zendesk:4702',
      concerned: ['NET-0003', 'NET-0007'],
      planned: [56, 60],
      customFields: { maintenanceWindow: 'Saturday 20:00-24:00', risk: 'high', rollbackTested: true },
    },
  ],
  [
    [36, 'INCIDENT', 'NETWORK', 'CRITICAL', 'CLOSED', 'priya', 'jonas', 1],
    'No network on the second floor',
    'The second floor has had no network since this morning, neither by cable nor by WLAN.',
    'A patch cable to the floor distributor was left out when the core switch was replaced. Plugged in.',
    {
      team: 'network',
      parent: 'CHG-1',
      watchers: ['ada'],
      tags: ['outage', 'site:leipzig'],
      customFields: { site: 'Leipzig', floor: 2, affectedUsers: 14 },
    },
  ],
  [
    [35, 'SERVICE_REQUEST', 'ACCESS', 'MEDIUM', 'CLOSED', 'priya', 'jonas', 7],
    'Read access to the finance share for the auditor',
    'Our auditor, Ms Lindqvist, needs read access to Finance/Audit for four weeks.',
    'Granted until the end of next month; the group membership expires by itself.',
  ],
  [
    [34, 'INCIDENT', 'HARDWARE', 'LOW', 'CLOSED', 'priya', 'jonas', 26],
    'Printer on floor 2 jams on two-sided jobs',
    'Every third two-sided print jams at the rear flap. One-sided printing is fine.',
    'Replaced the worn rollers of the duplex unit.',
    { concerned: ['PR-0021'] },
  ],
  [
    [33, 'PROBLEM', 'NETWORK', 'HIGH', 'CLOSED', 'jonas', 'ada', 310],
    'VPN gateway drops sessions under load',
    'Above about 60 users the VPN gateway drops sessions every ten minutes. Seen on three mornings.',
    'The session table was set to 64 entries. Raised to 512 and added to the monitoring.',
    {
      categoryConfigId: 'network/vpn',
      team: 'network',
      watchers: ['jonas'],
      tags: ['vpn'],
      customFields: { rootCause: 'session table too small' },
    },
  ],
  [
    [33, 'INCIDENT', 'NETWORK', 'HIGH', 'CLOSED', 'priya', 'jonas', 6],
    'VPN drops every ten minutes',
    'Working from home, the VPN client loses its connection every ten minutes and the ERP logs me out.',
    'Moved to the backup gateway until the cause is found.',
    {
      categoryConfigId: 'network/vpn',
      team: 'network',
      parent: 'PRB-1',
      externalId: 'zendesk:4711',
      comments: [
        [
          0.5,
          'jonas',
          'PUBLIC',
          'Which network are you in when it drops, and does it help to connect again?',
          'zendesk:90210',
        ],
        [0.7, 'priya', 'PUBLIC', 'At home, with a cable. Connecting again helps for ten minutes.', 'zendesk:90214'],
        [2, 'jonas', 'INTERNAL', 'Third one this morning. The gateway logs "session table full"; opened PRB-1.'],
        [5.9, 'jonas', 'PUBLIC', 'You are on the backup gateway now. Please write here if it drops again.'],
      ],
    },
  ],
  [
    [31, 'INCIDENT', 'NETWORK', 'MEDIUM', 'CLOSED', 'priya', 'jonas', 9],
    'Remote desktop freezes over VPN',
    'The remote desktop freezes for half a minute several times a morning.',
    'Same cause as the dropped sessions; fine on the backup gateway.',
    { parent: 'PRB-1', customFields: { site: 'home office' } },
  ],
  [
    [30, 'SERVICE_REQUEST', 'SOFTWARE', 'LOW', 'CLOSED', 'priya', 'jonas', 20],
    'Install the quarterly update of the tax software',
    'The tax software says that an update is due. I may not install it myself.',
    'Installed on both accounting computers.',
  ],
  [
    [29, 'INCIDENT', 'SOFTWARE', 'CRITICAL', 'CLOSED', 'priya', 'ada', 2],
    'ERP rejects every login since 8:00',
    'No one in Finance can log in to the ERP. It says "licence service unavailable".',
    'Restarted the licence service. The cause is looked for in the problem ticket.',
    {
      watchers: ['priya', 'jonas'],
      customFields: { affectedUsers: 48 },
      comments: [
        [0.2, 'ada', 'PUBLIC', 'Seen by all of Finance. We are on it; next news at 9:00.'],
        [0.9, 'jonas', 'INTERNAL', 'The licence service died when the certificate was renewed at 7:58.'],
        [1.5, 'ada', 'PUBLIC', 'Logins work again. Please tell us of anybody who still cannot get in.'],
      ],
    },
  ],
  [
    [29, 'PROBLEM', 'SOFTWARE', 'HIGH', 'CLOSED', 'ada', 'jonas', 130],
    'ERP licence service stops when its certificate is renewed',
    'The service does not notice the new certificate and stops when the old one expires.',
    'The vendor confirms the bug. Until it is fixed, the service is restarted after each renewal.',
  ],
  [
    [27, 'CHANGE', 'SOFTWARE', 'MEDIUM', 'CLOSED', 'jonas', 'jonas', 75],
    'Restart the ERP licence service after each certificate renewal',
    'Add a hook to the renewal job that restarts the licence service, and an alert if it does not come back.',
    'Hook and alert are in place; tested with a forced renewal.',
    { parent: 'PRB-2', customFields: { risk: 'low' } },
  ],
  [
    [26, 'INCIDENT', 'ACCESS', 'MEDIUM', 'CLOSED', 'priya', 'jonas', 1],
    'Account locked after leave',
    'I am back from two weeks of leave and my account is locked.',
    'Unlocked. A phone with the old password had locked it.',
  ],
  [
    [25, 'SERVICE_REQUEST', 'EMAIL', 'LOW', 'CANCELLED', 'priya', 'jonas', 30],
    'Shared mailbox for the company party',
    'We would like party@acme.example for the organisers. (Cancelled: we use a chat group instead.)',
  ],
  [
    [24, 'SERVICE_REQUEST', 'HARDWARE', 'MEDIUM', 'CLOSED', 'ada', 'jonas', 96],
    'Laptop for the new controller',
    'A new controller starts in Finance. Standard laptop, docking station, headset; ERP and tax software installed.',
    'Handed over with docking station and headset.',
    { customFields: { costCentre: 'CC-104', startsOn: 'first of the month' } },
  ],
  [
    [22, 'INCIDENT', 'HARDWARE', 'MEDIUM', 'CLOSED', 'priya', 'jonas', 28],
    'Laptop battery lasts twenty minutes',
    'The battery of my ThinkPad is empty after twenty minutes of a meeting.',
    'Replaced the battery under warranty.',
    { concerned: ['LT-0301'] },
  ],
  [
    [21, 'CHANGE', 'EMAIL', 'MEDIUM', 'CLOSED', 'ada', 'ada', 40],
    'Reject mail that fails DMARC',
    'The reports of the last quarter show no legitimate sender failing. Set the policy from quarantine to reject.',
    'Policy set to reject. Reports are clean after a day.',
    {
      team: 'migration',
      watchers: ['jonas'],
      planned: [38, 40],
      customFields: { risk: 'medium', maintenanceWindow: 'Sunday 06:00-08:00' },
    },
  ],
  [
    [20, 'INCIDENT', 'EMAIL', 'HIGH', 'CLOSED', 'priya', 'ada', 5],
    'Invoices to one customer are returned',
    'Since Monday every invoice that the ERP mails to Nordwind GmbH comes back with "550 5.7.26".',
    "The ERP's mail relay was missing in the SPF record. Added.",
    { parent: 'CHG-3' },
  ],
  [
    [19, 'SERVICE_REQUEST', 'ACCESS', 'MEDIUM', 'CLOSED', 'priya', 'ada', 22],
    'Access to the payment approval workflow',
    'I deputise for Martin next month and need to approve payments up to 5,000 euros.',
    'Role granted for one month, confirmed by the head of Finance.',
  ],
  [
    [17, 'INCIDENT', 'SOFTWARE', 'LOW', 'CLOSED', 'priya', 'jonas', 48],
    'Spreadsheet opens read-only',
    'The cash-flow spreadsheet opens read-only for everybody, "locked by another user".',
    'Removed a stale lock file on the file server.',
  ],
  [
    [16, 'SERVICE_REQUEST', null, 'LOW', 'CLOSED', 'priya', 'jonas', 24],
    'Replacement for a lost door badge',
    'I lost my door badge on the train. Please block it and make me a new one.',
    'Old badge blocked at once, new one handed out.',
    { categoryConfigId: 'facilities/badges' },
  ],
  [
    [14, 'PROBLEM', 'HARDWARE', 'MEDIUM', 'IN_PROGRESS', 'jonas', 'jonas', 190],
    'Docking stations lose the second screen',
    'Five docking stations lose the second screen after standby. All have the firmware of August.',
    null,
    {
      watchers: ['ada'],
      concerned: ['LT-0301', 'LT-0302'],
      tags: ['docking-station'],
      customFields: { model: 'ThinkPad T14 Gen 5', affectedAssets: 5 },
    },
  ],
  [
    [13, 'INCIDENT', 'HARDWARE', 'MEDIUM', 'PENDING', 'priya', 'jonas', 200],
    'Second screen stays black after lunch',
    'When I wake the laptop after lunch the second screen stays black until I unplug the dock.',
    null,
    { team: 'serviceDesk', parent: 'PRB-3', tags: ['docking-station'] },
  ],
  [
    [12, 'INCIDENT', 'ACCESS', 'HIGH', 'RESOLVED', 'priya', 'ada', 4],
    'Suspicious login from abroad',
    'I got a mail about a login to my account from a country I have never been to.',
    'Password reset, sessions ended, second factor set up again. The log shows no access to data.',
    { watchers: ['jonas'], tags: ['security', 'vip'] },
  ],
  [
    [11, 'SERVICE_REQUEST', 'SOFTWARE', 'LOW', 'RESOLVED', 'priya', 'jonas', 70],
    'Licence for a PDF editor',
    'I have to redact documents for the audit. The free viewer cannot do that.',
    'Licence assigned from the pool; the software centre has installed it.',
    { concerned: ['SW-0060'] },
  ],
  [
    [10, 'CHANGE', 'SOFTWARE', 'HIGH', 'PENDING', 'jonas', 'ada', 60],
    'Upgrade the ERP to release 12',
    'Upgrade after the month-end closing. Waiting for the approval of IT.',
    null,
    {
      watchers: ['jonas', 'priya'],
      planned: [480, 488],
      customFields: { risk: 'high', approvals: ['IT', 'Finance'], rollbackTested: false },
    },
  ],
  [
    [9, 'INCIDENT', 'NETWORK', 'MEDIUM', 'RESOLVED', 'jonas', 'jonas', 11],
    'Meeting room Elbe has a weak WLAN',
    'Video calls in meeting room Elbe break up; the signal there is at -78 dBm.',
    'Moved the access point from the corridor to the ceiling of the room: -54 dBm.',
    { categoryConfigId: 'network/wlan', team: 'network', concerned: ['NET-0011'] },
  ],
  [
    [8, 'SERVICE_REQUEST', 'ACCESS', 'MEDIUM', 'RESOLVED', 'priya', 'jonas', 30],
    'VPN for the external bookkeeper',
    'Mr Albers does our payroll from outside and needs the VPN with access to the payroll server only.',
    'Account with a second factor and a profile for the payroll server, valid for six months.',
  ],
  [
    [7, 'INCIDENT', 'SOFTWARE', 'HIGH', 'IN_PROGRESS', 'priya', 'jonas', 20],
    'Month-end report times out',
    'The month-end report stops after two minutes with a timeout. Last month it took 40 seconds.',
    null,
    {
      watchers: ['ada'],
      comments: [
        [3, 'jonas', 'PUBLIC', 'Does it also stop when you leave out the subsidiary in Dresden?'],
        [5, 'priya', 'PUBLIC', 'Without Dresden it takes 35 seconds. But I need Dresden in it by Friday.'],
        [
          19.9,
          'jonas',
          'INTERNAL',
          'A sequential scan over the closed postings of Dresden. Asked the vendor for the index.',
        ],
      ],
    },
  ],
  [
    [6, 'SERVICE_REQUEST', 'HARDWARE', 'LOW', 'IN_PROGRESS', 'priya', 'jonas', 40],
    'Height-adjustable desk needs a longer cable set',
    'My new desk goes up, the cables do not. Please replace them with two-metre ones.',
  ],
  [
    [5, 'CHANGE', 'NETWORK', 'MEDIUM', 'IN_PROGRESS', 'jonas', 'jonas', 50],
    'Put the building sensors on a network of their own',
    'The heating and door sensors share the office network. Give them a VLAN without a way to the file servers.',
    null,
    {
      team: 'network',
      planned: [48, 148],
      customFields: { risk: 'medium', maintenanceWindow: 'Saturday 20:00-24:00' },
    },
  ],
  [
    [4, 'INCIDENT', 'HARDWARE', 'LOW', 'RESOLVED', 'priya', 'jonas', 5],
    'Headset crackles in calls',
    'In calls the others hear a crackling. It happens with two different laptops.',
    'Exchanged the headset.',
    { team: 'serviceDesk' },
  ],
  [
    [4, 'CHANGE', 'OTHER', 'LOW', 'CANCELLED', 'jonas', 'ada', 8],
    'Move the nightly backup to 21:00',
    'Would end before the maintenance windows begin. (Cancelled: the ERP exports run until 22:30.)',
  ],
  [
    [3, 'SERVICE_REQUEST', 'EMAIL', 'LOW', 'PENDING', 'priya', 'jonas', 6],
    'Distribution list for the office move',
    'Please make a list for everybody who works on the move. Names follow as soon as the team is complete.',
  ],
  [
    [2, 'INCIDENT', 'SOFTWARE', 'CRITICAL', 'IN_PROGRESS', 'priya', 'ada', 3],
    'Bank statements are not imported',
    'No bank statement has arrived in the ERP since yesterday evening. Payments cannot be matched.',
    null,
    {
      watchers: ['priya', 'jonas'],
      customFields: { affectedUsers: 48, tags: ['month-end', 'vip'] },
      comments: [
        [
          1,
          'ada',
          'INTERNAL',
          'The bank delivers; our interface stops at a file of 11,240 lines. Same as in September?',
        ],
        [2, 'jonas', 'INTERNAL', redactedText],
        [2.9, 'ada', 'PUBLIC', 'The statements are here and are imported by hand today. The cause is looked for.'],
      ],
    },
  ],
  [
    [1.5, 'PROBLEM', 'SOFTWARE', 'HIGH', 'OPEN', 'ada', null, 0],
    'Bank interface fails when a file has more than 10,000 lines',
    'Second time this quarter. Both files had more than 10,000 lines; smaller ones go through.',
  ],
  [
    [1, 'INCIDENT', 'HARDWARE', 'MEDIUM', 'OPEN', 'priya', 'jonas', 1],
    'Projector in meeting room Saale shows a green tint',
    'Everything has a green tint, with every laptop and cable that we tried.',
    null,
    { team: 'serviceDesk' },
  ],
  [
    [0.4, 'SERVICE_REQUEST', 'ACCESS', 'MEDIUM', 'OPEN', 'priya', null, 0],
    'Access to the archive of the closed Dresden office',
    'For the audit I need the supplier contracts of the Dresden office, which are in the archive.',
    null,
    { team: 'serviceDesk' },
  ],
  [
    [0.1, 'INCIDENT', 'EMAIL', 'LOW', 'OPEN', 'priya', null, 0],
    'Signature shows the old address',
    'My mail signature still shows the old office address, although I changed it twice.',
    null,
    { team: 'serviceDesk' },
  ],
];

/** The pending approvals of demo tickets, by ticket number. */
export const approvals: [ticket: string, by: Person, approver: Person, note: string][] = [
  ['CHG-4', 'jonas', 'ada', 'The vendor recommends the upgrade before the year ends.'],
];

/** The links between the demo tickets, by ticket number. */
export const links: [type: LinkType, from: string, to: string][] = [
  ['CAUSED_BY', 'INC-17', 'PRB-3'],
  ['CAUSED_BY', 'INC-2', 'CHG-1'],
  ['CAUSED_BY', 'INC-4', 'PRB-1'],
  ['DUPLICATES', 'INC-5', 'INC-4'],
  ['CAUSED_BY', 'INC-16', 'PRB-4'],
  ['BLOCKS', 'PRB-4', 'CHG-4'],
];

type AssetFacts = [
  assetTag: string,
  type: AssetType,
  status: AssetStatus,
  manufacturer: string,
  model: string,
  boughtDaysAgo: number,
  purchaseCost: string,
  holder: Person | null,
];

interface AssetExtras {
  /** The tags of the asset, in ascending order. */
  tags?: string[];
  serialNumber?: string;
  location?: string;
  notes?: string;
  externalId?: string;
  customFields?: CustomFields;
}

/** The demo assets, oldest first. */
export const assets: [facts: AssetFacts, name: string, extras: AssetExtras][] = [
  [
    ['NET-0003', 'NETWORK', 'RETIRED', 'Cisco', 'Catalyst 4500-X', 2900, '12350.00', null],
    'Old core switch Leipzig',
    {
      serialNumber: 'JAE1840A1BC',
      location: 'Leipzig, storage',
      notes: 'Kept until the new one has run for a quarter.',
    },
  ],
  [
    ['PR-0021', 'PRINTER', 'IN_USE', 'Kyocera', 'TASKalfa 4054ci', 1300, '5420.50', null],
    'Printer of floor 2',
    {
      serialNumber: 'VC9Z301122',
      location: 'Leipzig, floor 2, copy room',
      tags: ['leased', 'site:leipzig'],
      customFields: { contract: 'Kyocera 2231-8' },
    },
  ],
  [
    ['SRV-0001', 'SERVER', 'IN_USE', 'Dell', 'PowerEdge R760', 880, '11840.00', null],
    'Virtualisation host 1',
    {
      serialNumber: '7XK2P04',
      externalId: 'snipeit:18',
      location: 'Leipzig, server room',
      customFields: { rack: 'R2', units: [18, 19] },
    },
  ],
  [
    ['SRV-0002', 'SERVER', 'MAINTENANCE', 'Dell', 'PowerEdge R760', 880, '11840.00', null],
    'Virtualisation host 2',
    {
      serialNumber: '7XK2P05',
      externalId: 'snipeit:19',
      location: 'Leipzig, server room',
      notes: 'Memory module B3 reports errors.',
    },
  ],
  [
    ['LT-0301', 'LAPTOP', 'IN_USE', 'Lenovo', 'ThinkPad T14 Gen 5', 410, '1499.00', 'priya'],
    'Laptop of Priya Raman',
    { serialNumber: 'PF3K9XZ1', location: 'Leipzig, floor 2', customFields: { costCentre: 'CC-104' } },
  ],
  [
    ['LT-0302', 'LAPTOP', 'IN_USE', 'Lenovo', 'ThinkPad T14 Gen 5', 410, '1499.00', 'jonas'],
    'Laptop of Jonas Weber',
    { serialNumber: 'PF3K9XZ2', location: 'Leipzig, floor 1', customFields: { costCentre: 'CC-100' } },
  ],
  [
    ['MB-0140', 'MOBILE', 'LOST', 'Apple', 'iPhone 16', 350, '849.00', 'ada'],
    'On-call phone',
    { serialNumber: 'F2LXQ0A9', notes: 'Left in a taxi; locked and wiped from afar.' },
  ],
  [
    ['NET-0011', 'NETWORK', 'IN_USE', 'Ubiquiti', 'U7 Pro', 300, '189.90', null],
    'Access point of meeting room Elbe',
    { location: 'Leipzig, floor 1, Elbe', customFields: { channel: 36 } },
  ],
  [
    ['SW-0060', 'SOFTWARE', 'IN_USE', 'Foxit', 'PDF Editor, 25 seats', 200, '3100.00', null],
    'Licences of the PDF editor',
    { notes: 'Renewed each spring.', customFields: { seats: 25, seatsUsed: 19 } },
  ],
  [
    ['NET-0007', 'NETWORK', 'IN_USE', 'Cisco', 'Catalyst 9500-24Y4C', 60, '8990.00', null],
    'Core switch Leipzig',
    { serialNumber: 'FDO2714K0QZ', location: 'Leipzig, server room', customFields: { rack: 'R1', managed: true } },
  ],
  [
    ['LT-0318', 'LAPTOP', 'IN_STOCK', 'Lenovo', 'ThinkPad T14 Gen 6', 45, '1629.00', null],
    'Spare laptop',
    { serialNumber: 'PF5M2AB7', location: 'Leipzig, IT storage' },
  ],
  [
    ['DT-0088', 'DESKTOP', 'ON_ORDER', 'HP', 'Elite Mini 800 G9', 6, '980.00', null],
    'Computer for the meeting room Saale',
    { location: 'Leipzig, floor 1, Saale' },
  ],
];

interface ProjectSeed {
  key: string;
  name: string;
  description: string;
  status: ProjectStatus;
  priority: Priority;
  manager: Person;
  startedDaysAgo: number;
  endsInDays: number;
  tasks: TaskSeed[];
}

type TaskSeed = [
  status: TaskStatus,
  priority: Priority,
  dueInDays: number,
  assignee: Person | null,
  title: string,
  description?: string,
];

export const projects: ProjectSeed[] = [
  {
    key: 'BACKUP',
    name: 'Backups that ransomware cannot reach',
    description: 'A second, immutable copy of every backup in another place, and a restore that has been tried.',
    status: 'COMPLETED',
    priority: 'CRITICAL',
    manager: 'ada',
    startedDaysAgo: 95,
    endsInDays: -12,
    tasks: [
      ['DONE', 'HIGH', -85, 'ada', 'List what must be restored first, and within how many hours'],
      ['DONE', 'HIGH', -60, 'jonas', 'Rent object storage with retention lock'],
      ['DONE', 'CRITICAL', -35, 'jonas', 'Copy every nightly backup there', 'Encrypted before it leaves the house.'],
      ['CANCELLED', 'LOW', -30, null, 'Keep weekly tapes as a third copy', 'Not needed: two places are enough.'],
      [
        'DONE',
        'CRITICAL',
        -14,
        'jonas',
        'Restore the ERP from the copy and measure the time',
        'Took 3 h 40 min of the 8 h allowed.',
      ],
    ],
  },
  {
    key: 'OFFICE',
    name: 'Move to the new office',
    description: 'Network, desks, meeting rooms and printers of the new office on Lindenstrasse.',
    status: 'ACTIVE',
    priority: 'HIGH',
    manager: 'jonas',
    startedDaysAgo: 40,
    endsInDays: 50,
    tasks: [
      ['DONE', 'HIGH', -25, 'jonas', 'Order the internet line', 'Two providers, two ways into the building.'],
      ['DONE', 'MEDIUM', -10, 'jonas', 'Plan access points from the floor plan'],
      ['IN_PROGRESS', 'HIGH', 8, 'jonas', 'Label both ends of every network cable'],
      ['BLOCKED', 'MEDIUM', 14, 'ada', 'Connect the door badges', 'Waits for the landlord, who owns the doors.'],
      ['TODO', 'MEDIUM', 40, 'priya', 'Tell customers and suppliers the new address'],
    ],
  },
  {
    key: 'SSO',
    name: 'One login for every application',
    description: 'Single sign-on with a second factor for the ERP, the tax software and the archive.',
    status: 'PLANNED',
    priority: 'MEDIUM',
    manager: 'ada',
    startedDaysAgo: -20,
    endsInDays: 140,
    tasks: [
      ['IN_PROGRESS', 'MEDIUM', 12, 'ada', 'Ask the vendors which protocols they speak'],
      ['TODO', 'HIGH', 45, 'jonas', 'Connect the ERP', 'Only after its upgrade to release 12.'],
      ['TODO', 'MEDIUM', 70, 'jonas', 'Connect the tax software'],
      ['TODO', 'LOW', 90, null, 'Connect the archive'],
      ['TODO', 'HIGH', 110, 'ada', 'Write the emergency procedure for when the login service is down'],
    ],
  },
];

/** The demo articles, oldest first. */
export const articles: [daysAgo: number, category: string, title: string, body: string][] = [
  [
    100,
    'Network',
    'Fix a VPN connection that drops',
    `The VPN client before version 5.2 loses its connection every ten minutes.

1. Open **Software Center** and install _VPN client 5.2_.
2. Restart the computer.
3. Connect, and wait for eleven minutes.

If the connection still drops, create a ticket and attach the log of the client.
`,
  ],
  [
    80,
    'Email',
    'Stop Outlook from asking for your password',
    `After you change your password, Outlook can keep the old one.

1. Close Outlook.
2. Open **Credential Manager** and choose **Windows Credentials**.
3. Remove every entry that starts with \`MicrosoftOffice\`.
4. Open Outlook and enter the new password.
`,
  ],
  [
    20,
    'Hardware',
    'Clear a paper jam in the printer on floor 2',
    `| Display | Where the paper is |
| --- | --- |
| \`J0501\` | Behind the rear flap |
| \`J4201\` | In the duplex unit |

Pull the paper in the direction of transport. If the rollers are worn, create a ticket for the asset \`PR-0021\`.
`,
  ],
];

export interface DeliveryFacts {
  /** The number of the ticket whose creation is the event. */
  ticket: string;
  attempts: [minutesLater: number, status: number, responseBody: string, durationMs: number][];
}

/**
 * The demo webhook. The server sends nothing to it, because it is paused. If a user resumes it, the attempts fail,
 * because the top-level domain `.example` is reserved and has no hosts (RFC 2606).
 *
 * Few new tickets match the filter. Otherwise, a load test in the demo workspace would queue a delivery for each
 * ticket until the quota of pending deliveries pauses all webhooks.
 */
export const webhook = {
  url: 'https://chat.acme.example/hooks/problems',
  filter: { type: ['PROBLEM'] } satisfies WebhookFilter,
  createdDaysAgo: 20,
  pausedDaysAgo: 13.95,
};

/** The deliveries of the demo webhook, oldest first. All are pending, because the server deletes other deliveries. */
export const deliveries: DeliveryFacts[] = [
  {
    ticket: 'PRB-3',
    attempts: [
      [0, 502, 'Bad Gateway', 148],
      [0.1, 502, 'Bad Gateway', 131],
      [5.1, 503, 'The chat server is in maintenance.', 64],
      [36.8, 503, 'The chat server is in maintenance.', 58],
    ],
  },
  { ticket: 'PRB-4', attempts: [] },
];
