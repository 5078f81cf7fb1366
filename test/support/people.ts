import assert from 'node:assert/strict';
import type { TestService } from './service.ts';

const password = 'a long enough password';

/**
 * Three accounts beside admin: `member` of the group ops and `stranger` may call everything that operators may,
 * `reader` reads only; `outsider` has no role at all.
 */
export const people = async (service: TestService) => {
  const made = async (path: string, body: unknown) =>
    assert.equal((await service.ask('POST', `/authorization/${path}`, body)).status, 200);
  await made('groups', { name: 'ops', description: 'Operations' });
  const account = async (username: string, memberOf: readonly string[]) => {
    await made('accounts', { username, password, memberOf });
    return service.as({ user: username, password });
  };
  return {
    member: await account('member', ['operators', 'ops']),
    stranger: await account('stranger', ['operators']),
    reader: await account('reader', ['readers']),
    outsider: await account('outsider', []),
  };
};

export type People = Awaited<ReturnType<typeof people>>;

/** The answer's body, once it is seen to be 200. */
export const ok = (answer: { readonly status: number; readonly body: any; readonly text: string }): any => {
  // a body is whatever the route says
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};

/** That the answer is a refusal with the status, and that one of its faults has the path (or words in its message). */
export const refused = (
  answer: { readonly status: number; readonly body: any; readonly text: string },
  status: number,
  about?: RegExp,
): void => {
  // as above
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.data, null);
  if (about) assert.match(JSON.stringify([answer.body.message, answer.body.metadata.errors]), about);
};
