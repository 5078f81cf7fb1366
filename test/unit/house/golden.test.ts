import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { link } from '@automation-platform/event-log';
import { aggregates } from '../../../src/domain/all.ts';
import { type Event, fold } from '../../../src/domain/engine/core.ts';
import { turnPassed } from '../../../src/domain/engine/locks.ts';
import { claimLapsed } from '../../../src/domain/engine/names.ts';
import type { Sealed } from '../../../src/domain/engine/sealed.ts';
import { areas } from '../../../src/http/areas.ts';
import type { Route } from '../../../src/http/engine/route.ts';
import { projections } from '../../../src/projections/all.ts';
import { entryOf, project } from '../../../src/projections/engine/define.ts';
import { passwords } from '../../../src/secrets/passwords.ts';
import { secrets } from '../../../src/secrets/secrets.ts';
import { decode, encode, type Metadata, type Recorded, splitStream } from '../../../src/store/event.ts';
import type { StoredEvent } from '../../../src/store/port.ts';
import { withRealPasswords } from '../../support/cheapPasswords.ts';
import { nodesOnLog } from '../../support/node.ts';

/** `source` where it is not that of the area: of published events. */
type Sample = { readonly stream: string; readonly topic: string; readonly data: any; readonly source?: string }; // the data of any event

const folder = new URL('../../golden/', import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
const updating = process.env.UPDATE_GOLDEN === '1';

/** Samples of stored events by the area whose source they have, in the order in which they happened. */
const samples: Readonly<Record<string, readonly Sample[]>> = Object.fromEntries(
  readdirSync(new URL('events/', folder))
    .sort()
    .map((file) => [file.replace('.json', ''), read(`events/${file}`)]),
);

const aggregateOf = ({ stream }: Sample) => {
  const { category } = splitStream(stream);
  return aggregates.find((one) => one.category === category) ?? assert.fail(`No kind of stream is called ${category}`);
};

/** Events that only take a revision; any stream may have them. */
const closing: Readonly<Record<string, (data: any) => Event>> = {
  claimLapsed,
  turnPassed: ({ series }) => turnPassed(series),
}; // as above

/** The samples as the log would give them back. */
const recorded = (area: string, some: readonly Sample[]): readonly Recorded[] => {
  const revisions = new Map<string, number>();
  return some.map(({ stream, topic, data, source = `@platform/${area}` }, i) => {
    const revision = revisions.get(stream) ?? 0;
    revisions.set(stream, revision + 1);
    const metadata = {
      at: new Date(Date.UTC(2026, 0, 1, 0, revision)).toISOString(),
      actor: { id: 'a1b2c3d4e5f60718293a4b5c', username: 'nora', provenance: 'local' },
      $causationId: `cause of sample ${i}`,
    } as Metadata;
    return { id: `sample ${i}`, stream, revision, position: i + 1, source, topic, data, metadata };
  });
};

/** What is written down is read from the file; `npm run golden` writes it. */
const golden = (file: string, now: unknown): unknown => {
  if (updating) writeFileSync(new URL(file, folder), `${JSON.stringify(now, null, 1)}\n`);
  return read(file);
};

describe('samples of stored events', () => {
  it('are there for every topic of every kind of stream', () => {
    const there = new Set(
      Object.values(samples)
        .flat()
        .map((sample) => `${aggregateOf(sample).category}: ${sample.topic}`),
    );
    const missing = aggregates
      .flatMap(({ category, evolve }) => Object.keys(evolve).map((topic) => `${category}: ${topic}`))
      .filter((one) => !there.has(one));
    assert.deepEqual(
      missing,
      [],
      'Put a sample of each at the end of test/golden/events/<area>.json, then run npm run golden',
    );
  });

  it('are never changed or taken away: what is stored stays as it is', () => {
    const now = Object.fromEntries(
      Object.entries(samples).map(([area, some]) => [
        area,
        some.map((sample) => hash('sha256', JSON.stringify(sample), 'base64')),
      ]),
    );
    const kept: Record<string, readonly string[]> = existsSync(new URL('kept.json', folder)) ? read('kept.json') : {};
    for (const [area, digests] of Object.entries(kept)) {
      for (const [i, digest] of digests.entries())
        assert.equal(
          now[area]?.[i],
          digest,
          `Sample ${i} of events/${area}.json is not what it was: ${JSON.stringify(samples[area]?.[i])}. Logs hold it in its old form: put it back, and a new one at the end`,
        );
    }
    assert.deepEqual(golden('kept.json', now), now, 'There are new samples: run npm run golden');
  });

  it('make the documents that they made', () => {
    const made: object[] = [];
    for (const [area, some] of Object.entries(samples)) {
      const documents = new Map<string, unknown>();
      for (const event of recorded(area, some)) {
        for (const projection of projections.filter(({ of }) => of.category === splitStream(event.stream).category)) {
          const key = `${projection.collection}/${splitStream(event.stream).id}`;
          const doc = project(projection, documents.get(key), event);
          documents.set(key, doc);
          made.push({
            topic: event.topic,
            document: key,
            ...(doc !== undefined && {
              ...entryOf(projection, splitStream(event.stream).id, doc, event.revision),
              text: doc,
            }),
          });
          const { children } = projection;
          const { cleared, put = [] } = children?.on[event.topic]?.(event) ?? {};
          if (children && cleared)
            made.push({
              topic: event.topic,
              children: `${children.collection}/${splitStream(event.stream).id}`,
              cleared,
            });
          if (children)
            for (const [name, child] of put)
              made.push({
                topic: event.topic,
                child: `${children.collection}/${name}`,
                ...entryOf(children, `${splitStream(event.stream).id}/${name}`, child, event.revision),
                text: child,
              });
        }
      }
    }
    assert.deepEqual(
      golden('documents.json', made),
      made,
      'Stored events make other documents now: run npm run golden, read the diff, commit it',
    );
  });

  for (const [area, some] of Object.entries(samples)) {
    describe(`of ${area}`, () => {
      it('are of topics that their streams know', () => {
        for (const sample of some) {
          const { category, evolve, published, area: home } = aggregateOf(sample);
          const close = closing[sample.topic];
          if (close) assert.deepEqual(close(sample.data), { topic: sample.topic, data: sample.data });
          else if (published)
            assert.doesNotMatch(sample.source ?? '$', /^(@platform\/|\$)/, `${category} has sources of its own`);
          else assert.ok(sample.topic in evolve, `${category} knows no ${sample.topic}`);
          // A claim on a name has the source of the owner's area, and a retirement that of what is retired.
          if (category !== 'name' && category !== 'retirement')
            assert.equal(home, area, `${category} belongs to ${home}`);
        }
      });

      it('fold in order into states that are data and nothing else', () => {
        const states = new Map<string, unknown>();
        for (const sample of some) {
          const aggregate = aggregateOf(sample);
          const before = states.get(sample.stream) ?? aggregate.initial;
          const after = fold(aggregate, [{ topic: sample.topic, data: sample.data }], before);
          states.set(sample.stream, after);
          assert.deepEqual(structuredClone(after), after, sample.topic);
          assert.equal(typeof aggregate.exists(after), 'boolean');
          if (sample.topic in closing) assert.equal(after, before, `${sample.topic} changes no state`);
          for (const { kind, name } of aggregate.names?.(after) ?? []) {
            assert.ok(name.length > 0, `${sample.topic} leaves a name empty`);
            // A path gives names of the category's kind: by that, a retry finds who had one
            // (commands/engine/retries.ts).
            assert.ok(
              [aggregate.category, 'triggerRoute', 'defaultServiceGroup'].includes(kind),
              `${kind} is not the category ${aggregate.category}`,
            );
          }
          for (const { owner, name } of aggregate.reservations?.(after) ?? [])
            assert.ok(owner.includes('-') && name.name.length > 0, `${sample.topic} promises nothing`);
        }
      });
    });
  }

  it('show how secrets are sealed and passwords hashed: both can still be opened', async () => {
    const { unseal } = secrets({ key: Buffer.alloc(32, 'golden') });
    const stored: Sealed = samples.authorization!.find(({ topic }) => topic === 'accountPasswordSet')!.data.password;
    const matches = (password: string) =>
      withRealPasswords(() => passwords().verifyPassword(password, unseal(stored), '10.0.0.1'));
    assert.equal(await matches('the golden password'), true);
    assert.equal(await matches('another password'), false);
  });
});

describe('who may call what', () => {
  const { node } = nodesOnLog();
  it('is as it was: a row is open to a group once it says so', async () => {
    const one = await node();
    await one.bootstrap();
    const principals = await Promise.all(
      ['admins', 'operators', 'readers', 'none'].map(async (group) => {
        await one.account(group, { memberOf: group === 'none' ? [] : [group] });
        const authorization = `Basic ${Buffer.from(`${group}:password of ${group}`).toString('base64')}`;
        return {
          group,
          may: (await one.auth.authenticate({ authorization, cookie: undefined, address: '10.0.0.1' })).may,
        };
      }),
    );
    const whoMay = (area: string, row: Route) =>
      typeof row.access === 'string'
        ? row.access
        : principals.filter(({ may }) => may(area, row)).map(({ group }) => group);
    const now: Record<string, Record<string, unknown>> = {};
    for (const { area, routes: rows } of areas)
      now[area] = { ...now[area], ...Object.fromEntries(rows.map((row) => [row.name, whoMay(area, row)])) };
    assert.deepEqual(
      now,
      golden('access.json', now),
      'Others may call a row now: run npm run golden, read the diff, commit it',
    );
  });
});

describe('a stored event', () => {
  const about = {
    $correlationId: '3f2b8a04-6f0e-4c1d-9a7b-2d4e6f8a0c11',
    $causationId: '9c1d7e52-0b3a-4f68-8e2d-1a5c7f9b3d20',
    at: '2026-01-01T00:00:00.000Z',
    actor: { id: 'a1b2c3d4e5f60718293a4b5c', username: 'nora', provenance: 'local' },
    operation: 'updateGroupMapping',
    requestId: '3f2b8a04-6f0e-4c1d-9a7b-2d4e6f8a0c11',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    idempotency: { key: 'first try', request: 'LfB9HcobpH1FTYC1ZPon2Xr8gC1acbSLtvjWsbsRcOM' },
    schemaVersion: 1,
  } satisfies Omit<Metadata, 'hash'>;
  const ids = ['5d3c9e10-7a2b-4d6f-8c1e-0f9a8b7c6d51', '5d3c9e10-7a2b-4d6f-8c1e-0f9a8b7c6d52'];
  const { stream } = samples['group-mappings']![0]!;
  const encoded: StoredEvent[] = [];
  for (const [revision, { topic, data }] of samples['group-mappings']!.slice(0, 2).entries()) {
    const { hash: _, ...event } = encode(
      { stream, revision, id: ids[revision]!, source: '@platform/group-mappings' },
      { topic: topic, data },
      about,
      revision === 0 ? '' : decode(encoded[0]!).metadata.hash,
    );
    encoded.push({ ...event, stream, revision, position: revision + 1 });
  }

  it('is written as it always was, with all its metadata', () => {
    // Never rewritten: logs have been written in this form.
    if (updating && !existsSync(new URL('stored.json', folder))) golden('stored.json', encoded);
    assert.deepEqual(read('stored.json'), encoded);
  });

  it('is linked to its predecessor by a hash over both texts', () => {
    let previous = '';
    for (const { id, type, data, metadata, revision } of read('stored.json') as StoredEvent[]) {
      const { hash: linked, ...open } = JSON.parse(metadata);
      assert.equal(link({ stream, revision, id, type, data, metadata: JSON.stringify(open) }, previous), linked);
      previous = linked;
    }
  });

  it('is read with nothing lost', () => {
    const { source, topic, data, metadata } = decode(read('stored.json')[1]);
    const { hash: linked, ...open } = metadata;
    assert.deepEqual(
      { source, topic, data, open },
      {
        source: '@platform/group-mappings',
        topic: 'groupMappingUpdated',
        data: { platformGroups: ['ops'] },
        open: about,
      },
    );
    assert.match(linked, /^[A-Za-z0-9+/]{43}=$/);
  });
});
