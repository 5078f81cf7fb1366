import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { positionOf } from './hostile.ts';
import { ok, refused } from './people.ts';
import type { TestService } from './service.ts';

export type Doc = { readonly [member: string]: any }; // documents of all kinds

/** A kind of resource: how it is made, changed, deleted and read. `:id` in a path is its id. */
export type RestoreCase = {
  readonly kind: string;
  /** The id in its stream, if the answer of `make` does not have it. */
  readonly id?: string;
  readonly make?: readonly [path: string, body: Doc, method?: string];
  /** Nothing where a resource never changes. */
  readonly change?: readonly [method: string, path: string, body?: Doc];
  /** Nothing where it cannot be deleted. */
  readonly remove?: readonly [method: string, path: string, body?: Doc];
  readonly read: string;
  /** The members that must come back. */
  readonly members: readonly string[];
  /** Another list that must come back, and the members of its items. */
  readonly list?: readonly [path: string, members: readonly string[]];
};

/** The document in an answer with or without an envelope, or the only one in a list. */
const docIn = (body: Doc): Doc => {
  const made = typeof body.created === 'object' ? body.created : undefined;
  const doc = body.message === undefined ? (body.result ?? made ?? body) : (body.data ?? body);
  return Array.isArray(doc) ? doc[0] : doc;
};

const idIn = (body: Doc): string => {
  const doc = docIn(body);
  return doc._id ?? doc.id ?? doc.name;
};

const picked = (doc: Doc, members: readonly string[]): Doc =>
  Object.fromEntries(members.map((member) => [member, doc[member]]));

/** Changes, restores, deletes and restores a resource, and checks each answer. */
export const restoresAsItWas = async (service: TestService, given: RestoreCase): Promise<void> => {
  const { kind, make, change, remove, read, members, list } = given;
  const restore = (body: Doc, headers: Record<string, string> = {}) =>
    service.ask('POST', '/audit/restore', body, headers);
  const made = make && ok(await service.ask(make[2] ?? 'POST', make[0], make[1]));
  const id = given.id ?? idIn(made);
  const at = (path: string) => path.replace(':id', id);
  const told = (body: Doc | undefined): Doc | undefined =>
    body && JSON.parse(JSON.stringify(body).replaceAll('":id"', JSON.stringify(id)));
  const shown = async () => ({
    document: picked(docIn(ok(await service.ask('GET', at(read)))), members),
    list: list && ok(await service.ask('GET', at(list[0]))).results.map((item: Doc) => picked(item, list[1])),
  });
  const wanted = await shown();
  const first = await positionOf(service);
  const key = { 'Idempotency-Key': randomUUID() };
  const otherKey = { 'Idempotency-Key': randomUUID() };

  if (change) {
    ok(await service.ask(change[0], at(change[1]), told(change[2])));
    const second = await positionOf(service);
    assert.notDeepEqual(await shown(), wanted);
    const tried = ok(await restore({ kind, id, position: first, dryRun: true }));
    assert.equal(await positionOf(service), second, 'a dry run stores nothing');
    refused(await restore({ kind, id, position: first }, { 'If-Match': '"99"' }), 412);
    const back = ok(await restore({ kind, id, position: first }, key));
    assert.deepEqual(Object.keys(back), ['status', 'message', 'data', 'patch']);
    const plain = (patch: readonly Doc[]) =>
      patch.filter(({ path }) => !/^\/(lastUpdated|last_updated|messageLastUpdated|manifest\/createdEpoch)/.test(path));
    assert.deepEqual(plain(tried.patch), plain(back.patch));
    assert.ok(back.patch.length > 0);
    assert.deepEqual(await shown(), wanted);
    assert.ok(!JSON.stringify(back).includes('$sealed') && !/(secret|token) (one|two)/.test(JSON.stringify(back)));
    const replayed = await restore({ kind, id, position: first }, key);
    assert.deepEqual([ok(replayed), replayed.headers.get('idempotency-replayed')], [back, 'true']);
  }

  const third = await positionOf(service);
  const again = ok(await restore({ kind, id, position: first }));
  assert.deepEqual([again.patch, await positionOf(service)], [[], third], 'no difference is no event');

  if (!remove) return;
  ok(await service.ask(remove[0], at(remove[1]), told(remove[2])));
  const gone = await positionOf(service);
  refused(await restore({ kind, id, position: gone }), 404);
  refused(await restore({ kind, id, position: 1 }), 404);
  ok(await restore({ kind, id, position: first, dryRun: true }));
  assert.equal(await positionOf(service), gone, 'a dry run stores nothing');
  refused(await restore({ kind, id, position: first }, { 'If-Match': '"0"' }), 412);
  const reborn = ok(await restore({ kind, id, position: first }, otherKey));
  if (given.id === undefined) assert.equal(idIn(reborn), id);
  assert.deepEqual(await shown(), wanted);
  const fourth = await positionOf(service);
  const repeated = ok(await restore({ kind, id, position: first }, otherKey));
  assert.deepEqual([repeated.status, await positionOf(service)], ['OK', fourth]);
};
