import assert from 'node:assert/strict';
import { join } from 'node:path';
import { connectToRead } from '../../../src/store/sqlite/log.ts';
import { people } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

const om = '/operations-manager';

describe('Publishing over HTTP', () => {
  const service = useService();

  const publish = (where: string, payload: unknown, headers?: Record<string, string>) =>
    service.ask('POST', `${om}/events/${where}`, payload, headers);

  /** The event with this id, as it lies in the log. */
  const stored = (id: string) => {
    const db = connectToRead(join(service.folder, 'events.db'));
    try {
      const rows = db
        .prepare('SELECT id, type, stream, data, metadata, position FROM events')
        .all() as readonly (readonly [string, string, string, string, string, number])[];
      const [, type, stream, data, metadata, position] = rows.find(([one]) => one === id) ?? assert.fail(`no ${id}`);
      return { type, stream, data, metadata: JSON.parse(metadata), position };
    } finally {
      db.close();
    }
  };

  it('stores the payload under its source and topic, and answers the id and position of the event', async () => {
    const { status, body, headers } = await publish('itsm/ticketOpened', { ticket: 7 });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['message', 'data', 'metadata']);
    assert.deepEqual(Object.keys(body.data), ['id', 'position']);
    const event = stored(body.data.id);
    assert.equal(event.type, 'itsm:ticketOpened');
    assert.match(event.stream, /^publishedEvent-/);
    assert.equal(event.data, '{"ticket":7}');
    assert.equal(body.data.position, event.position);
    assert.equal(headers.get('x-event-position'), String(event.position));
    assert.equal(event.metadata.operation, 'publishEvent');
    assert.equal(event.metadata.actor.username, 'admin');
    assert.equal('depth' in event.metadata, false, 'people and other systems publish at depth 0');
  });

  it('gives the event one id, which audits show as well', async () => {
    const { id, position } = (await publish('audited/once', {})).body.data;
    const { status, body, text } = await service.ask('GET', '/audit/events?source=audited');
    assert.equal(status, 200, text);
    const found = body.results.map((event: { id: string; position: number }) => [event.id, event.position]);
    assert.deepEqual(found, [[id, position]]);
  });

  it('takes any JSON as payload', async () => {
    for (const payload of ['null', 'false', 'true', '0', '-1.5', '""', '"text"', '[]', '[null]', '{}', '{"a":[{}]}']) {
      const { status, body, text } = await publish('itsm/any', payload);
      assert.equal(status, 200, `${payload}: ${text}`);
      assert.equal(stored(body.data.id).data, payload);
    }
  });

  it('takes sources and topics that are percent-encoded', async () => {
    const source = 'https://itsm.example/eu:1 ü?#%';
    const { body } = await publish(`${encodeURIComponent(source)}/${encodeURIComponent('ticket/opened')}`, 1);
    assert.equal(stored(body.data.id).type, `${source}:ticket/opened`);
  });

  it('stores what is too large for one event of the log', async () => {
    const payload = JSON.stringify('x'.repeat(512 * 1024 - 2));
    const { status, body } = await publish('itsm/large', payload);
    assert.equal(status, 200);
    assert.match(stored(body.data.id).data, /^\{"\$payload":/);
  });

  const refused = (
    what: string,
    where: string,
    payload: unknown,
    { status, path, headers }: { status: number; path?: string; headers?: Record<string, string> },
  ) =>
    it(`refuses ${what}`, async () => {
      const answer = await publish(where, payload, headers);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.metadata.errors[0].path, path);
    });

  refused('no body at all', 'itsm/none', undefined, { status: 400, path: '' });
  refused('more than 512 KiB', 'itsm/large', JSON.stringify('x'.repeat(512 * 1024 - 1)), { status: 413 });
  refused('what is no JSON', 'itsm/bad', '{"a":', { status: 400, path: '' });
  for (const source of [
    '@platform/mop',
    '@Platform/mop',
    '@PLATFORM/x',
    '\u200b@platform/mop',
    '@\u200dplat\u00adform/mop',
    '\ufe0f@platform/mop',
    '\uff20\uff30latform\uff0fmop',
    '@p\u0336latform/mop',
    '$all',
    '\u2060$all',
    '\uff04all',
  ])
    refused(`the source ${JSON.stringify(source)}`, `${encodeURIComponent(source)}/x`, 1, {
      status: 400,
      path: 'source',
    });
  it('takes sources that only resemble those of the platform', async () => {
    for (const source of ['@platform', '@platforms/x', 'platform/mop', 'a@platform/x', '@pl\u00e1tform/x', 'a$'])
      assert.equal((await publish(`${encodeURIComponent(source)}/x`, 1)).status, 200, source);
  });
  refused('a topic with a colon', 'itsm/a%3Ab', 1, { status: 400, path: 'topic' });
  refused('control characters', 'itsm/a%00b', 1, { status: 400, path: 'topic' });
  refused('a sealed value', 'itsm/x', '{"a":[{"$sealed":"djE"}]}', { status: 400, path: '/a/0/$sealed' });
  refused('a sealed value under an escaped name', 'itsm/x', '{"\\u0024sealed":1}', { status: 400, path: '/$sealed' });
  refused('integers that JavaScript would change', 'itsm/x', '{"a":9007199254740993}', { status: 400, path: '/a' });
  refused('other bodies than JSON', 'itsm/x', '1', { status: 415, headers: { 'Content-Type': 'text/plain' } });
  for (const claim of ['', 'x', 'a/0', 'a/-1', 'a/b', '/1', 'a/1/2', 'a/1.5', 'a b/1'])
    refused(`the claim ${claim}`, 'itsm/x', 1, { status: 400, path: 'X-Claim', headers: { 'X-Claim': claim } });
  refused('a claim that nobody holds', 'itsm/x', 1, {
    status: 409,
    path: 'X-Claim',
    headers: { 'X-Claim': '7b0c1e2d3a4b5c6d7e8f9a01/1' },
  });

  it('is for operators', async () => {
    const { stranger, reader, outsider } = await people(service);
    const statuses = await Promise.all(
      [stranger, reader, outsider, service.as(null)].map(async (ask) => {
        const { status } = await ask('POST', `${om}/events/itsm/x`, 1);
        return status;
      }),
    );
    assert.deepEqual(statuses, [200, 403, 403, 401]);
  });
});
