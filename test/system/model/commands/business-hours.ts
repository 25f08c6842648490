import fc from 'fast-check';
import { calendars, type HoursSetting, targets, toBusinessCalendar } from '../resources/business-hours.ts';
import { agrees } from '../values.ts';
import { kind } from './command.ts';

const settingGiven = fc.record(
  {
    calendar: fc.constantFrom(...calendars),
    targets: fc.constantFrom(...targets),
    pausesWhilePending: fc.constantFrom(true, true, false),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** The commands read the business hours of a workspace, and set them while no other command of the workspace runs. */
export const businessHours = {
  get: kind(2, fc.constant(null), async (turn) => {
    const sent = await turn.ask('businessHours.get');
    if (sent?.answer === undefined) return;
    const { etag: _, ...setting } = sent.answer.body?.data ?? {};
    turn.world.expect(agrees(toAnswer(turn.workspace.hours), setting), 'the business hours differ', sent);
  }),

  set: {
    ...kind(6, settingGiven, async ({ workspace, servers }, given) => {
      const { calendar, targets, pausesWhilePending } = { ...workspace.hours, ...given };
      const setting = { calendar, targets, pausesWhilePending: pausesWhilePending && calendar !== null };
      await servers.setHours(workspace, setting);
      workspace.hours = setting;
    }),
    isAlone: true,
  },
};

function toAnswer({ calendar, ...setting }: HoursSetting) {
  return { ...setting, calendar: calendar && toBusinessCalendar(calendar) };
}
