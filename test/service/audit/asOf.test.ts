import assert from 'node:assert/strict';
import { again } from '../../support/again.ts';
import type { Answer } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

describe('reads as of an earlier time', () => {
  const service = useService();
  const get = async (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    again(() => service.ask('GET', path, undefined, headers));
  /** Makes an automation, and gives its id and the position of its event. */
  const make = async (name: string): Promise<{ readonly id: string; readonly position: number }> => {
    const { status, body, headers } = await service.ask('POST', '/operations-manager/automations', { name });
    assert.equal(status, 200, JSON.stringify(body));
    return { id: body.data._id, position: Number(headers.get('x-event-position')) };
  };
  const change = async (id: string, updates: object): Promise<number> => {
    const answer = await service.ask('PATCH', `/operations-manager/automations/${id}`, updates);
    assert.equal(answer.status, 200, answer.text);
    return Number(answer.headers.get('x-event-position'));
  };

  it('a document is as it was, with the position in a header and in the tag', async () => {
    const { id, position } = await make('first');
    const path = `/operations-manager/automations/${id}`;
    const then = await get(path);
    const later = await change(id, { description: 'changed' });
    const now = await get(path);
    const past = await get(`${path}?asOf=${position}`);
    assert.equal(past.status, 200, past.text);
    assert.equal(past.text, then.text);
    assert.equal(past.headers.get('x-as-of-position'), String(position));
    assert.equal(past.headers.get('etag'), `"0@${position}"`);
    const asNow = await get(`${path}?asOf=${later}`);
    assert.equal(asNow.text, now.text);
    assert.equal(asNow.headers.get('etag'), `"1@${later}"`);
    assert.equal((await get(`${path}?asOf=${position - 1}`)).status, 404);
    assert.equal((await get(`${path}?asOf=0`)).status, 404);
  });

  it('by name, in lists, with filters and totals', async () => {
    const { id, position } = await make('listed');
    await make('later one');
    await change(id, { name: 'renamed' });
    const named = await get(`/operations-manager/automations/listed?asOf=${position}`);
    assert.equal(named.body.data._id, id);
    assert.equal((await get(`/operations-manager/automations/renamed?asOf=${position}`)).status, 404);
    const list = await get(`/operations-manager/automations?asOf=${position}&sort=name&multiEquals[name]=listed`);
    assert.equal(list.status, 200, list.text);
    assert.deepEqual(
      list.body.data.map(({ name }: { name: string }) => name),
      ['listed'],
    );
    assert.equal(list.body.metadata.total, 1);
    assert.match(String(list.headers.get('etag')), new RegExp(`^"[\\w-]{22}@${position}"$`));
  });

  it('an unchanged answer of an earlier time is 304; its tag never fits If-Match', async () => {
    const { id, position } = await make('tagged');
    const path = `/operations-manager/automations/${id}`;
    const etag = String((await get(`${path}?asOf=${position}`)).headers.get('etag'));
    const unchanged = await get(`${path}?asOf=${position}`, { 'If-None-Match': etag });
    assert.deepEqual([unchanged.status, unchanged.headers.get('x-as-of-position')], [304, String(position)]);
    const refused = await service.ask('PATCH', path, { description: 'x' }, { 'If-Match': etag });
    assert.equal(refused.status, 412);
  });

  it('a time means the log up to its last event that is not later', async () => {
    const { id, position } = await make('timed');
    const [, event] = await Promise.all([0, eventAt(position)]);
    const path = `/operations-manager/automations/${id}`;
    const past = await get(`${path}?asOf=${encodeURIComponent(event)}`);
    assert.equal(past.status, 200, past.text);
    const shown = Number(past.headers.get('x-as-of-position'));
    assert.ok(shown >= position);
    assert.equal((await get(`${path}?asOf=2001-01-01T00:00:00%2B02:00`)).status, 404);
    const first = await get('/operations-manager/automations?asOf=2001-01-01T00:00:00Z');
    assert.deepEqual([first.body.metadata.total, first.headers.get('x-as-of-position')], [0, '0']);
    const last = await get(`${path}?asOf=2999-01-01T00:00:00Z`);
    assert.equal(last.status, 200);
  });

  const eventAt = async (position: number): Promise<string> => {
    const { body } = await get('/operations-manager/automations?sort=created&order=-1&limit=1');
    assert.ok(position > 0);
    return body.data[0].created;
  };

  it('refuses what is no moment, beyond the log, given twice, or not known to the row', async () => {
    const path = '/operations-manager/automations';
    const bad = ['', 'now', '-1', '1.5', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00+02:00', '999999999'];
    for (const asOf of bad) {
      const { status, body } = await get(`${path}?asOf=${asOf}`);
      assert.equal(status, 400, asOf);
      assert.equal(body.metadata.errors[0].path, 'asOf');
    }
    assert.equal((await get(`${path}?asOf=1&asOf=1`)).status, 400);
    for (const other of ['/authorization/methods', '/whoami', '/health/status', '/health/live', '/metrics', '/docs'])
      assert.equal((await get(`${other}?asOf=1`)).status, 400, other);
    const changing = await service.ask('POST', `${path}?asOf=1`, { name: 'x' });
    assert.equal(changing.status, 400);
  });

  it('needs a login', async () => {
    const nobody = service.as(null);
    for (const path of ['/customization/banner', '/operations-manager/automations'])
      assert.equal((await nobody('GET', `${path}?asOf=1`)).status, 401, path);
  });

  it('rows of POST that only read take it too', async () => {
    const made = await service.ask('POST', '/configuration_manager/compliance_plans', { name: 'plan' });
    assert.equal(made.status, 200, made.text);
    const position = Number(made.headers.get('x-event-position'));
    const search = '/configuration_manager/search/compliance_plans';
    const found = (asOf: number) => again(() => service.ask('POST', `${search}?asOf=${asOf}`, { name: 'plan' }));
    assert.equal((await found(position)).body.totalCount, 1);
    const before = await found(position - 1);
    assert.deepEqual([before.body.totalCount, before.headers.get('x-as-of-position')], [0, String(position - 1)]);
  });
});
