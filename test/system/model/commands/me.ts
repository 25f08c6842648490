import fc from 'fast-check';
import { isSame } from '../resources/rows.ts';
import { kind } from './command.ts';

export const me = {
  get: kind(1, fc.constant(null), async (turn) => {
    const sent = await turn.ask('me.get');
    if (sent?.answer === undefined) return;
    const { key, user, teamIds, workspace } = sent.answer.body?.data ?? {};
    const { id, scopes, userId, isImport } = turn.key;
    const isRight =
      key?.id === id &&
      isSame(key?.scopes, scopes) &&
      key?.import === isImport &&
      workspace?.name === turn.workspace.name &&
      isSame(
        teamIds,
        turn.workspace.teams
          .filter(({ memberIds }) => memberIds.includes(userId))
          .map((team) => team.id)
          .toReversed(),
      ) &&
      isSame(
        user,
        turn.workspace.users.find((each) => each.id === userId),
      );
    turn.world.expect(isRight, 'GET /me describes another key', sent);
  }),
};

export const ping = {
  get: kind(1, fc.constant(null), async (turn) => {
    const sent = await turn.ask('ping.get');
    if (sent?.answer === undefined) return;
    const isRight = isSame(sent.answer.body, { success: true, data: { status: 'ok', version: 'v1' } });
    turn.world.expect(isRight, 'GET /ping returned another response', sent);
  }),
};
