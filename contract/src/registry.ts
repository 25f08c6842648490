import type { Endpoint } from './endpoint.ts';
import * as declared from './index.ts';

/** The name of each export of the contract that declares the endpoints of a resource. */
type ResourceName = {
  [Name in keyof typeof declared]: (typeof declared)[Name] extends Record<string, Endpoint> ? Name : never;
}[keyof typeof declared];

/**
 * The resources of the API, in the order of the OpenAPI document, each with the description of its tag. If a resource is
 * missing, the contract doesn't compile. The router, the client and the OpenAPI document are derived from this list.
 *
 * v1 has no endpoints that create or change users, projects, teams, definitions of custom fields, ticket categories
 * and request forms.
 * The command line and the developer area use the schemas for this, such as `NewTeam` and `TeamPatch`.
 */
export const tags = {
  ping: 'Check that the service is available. Requires no API key.',
  me: 'The API key of the request.',
  tickets: 'Incidents, problems, changes and service requests.',
  comments: 'Comments on tickets.',
  attachments: 'Files that are attached to tickets.',
  links: 'Links between tickets.',
  approvals: 'The approvals of changes.',
  assets: 'Devices, licenses and other items that the workspace manages.',
  articles:
    'Articles of the knowledge base. You write them in the developer area or import them with the command line.',
  proposals:
    'Requests that wait for the decision of a person. API keys that may only propose can change nothing on their own.',
  activities: 'The history of actions on tickets and assets.',
  projects: 'Projects, which contain tasks.',
  tasks: 'The tasks of projects.',
  users: 'The users of the workspace.',
  teams: 'Teams of users. You create and change them in the developer area or with the command line.',
  fields:
    'The definitions of custom fields. You create and change them in the developer area or with the command line.',
  ticketCategories:
    'Categories of tickets that the workspace defines. You create and change them in the developer area or with the command line.',
  businessHours:
    'The hours in which the workspace is open, and the targets for its tickets. You set them in the developer area or with the command line.',
  requestForms:
    'Forms with which users request something, such as a laptop. A submitted form becomes a ticket. You create and change forms in the developer area or with the command line.',
  document: 'This document with the custom fields, the ticket categories and the request forms of the workspace.',
  webhooks: 'Webhook subscriptions. For the format, the retries and the signatures of events, see the section Events.',
  deliveries: 'Deliveries of events to subscriptions, and their attempts.',
} satisfies Record<ResourceName, string>;

export type Resources = Pick<typeof declared, ResourceName>;

/** The endpoints of each resource. */
export const resources = Object.fromEntries(
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: the list has all resources, so nothing can be omitted
  (Object.keys(tags) as ResourceName[]).map((name) => [name, declared[name]]),
) as Resources;
