import assert from 'node:assert/strict';
import type { NewTrigger } from '../../../src/domain/operations-manager/triggerMembers.ts';
import {
  change,
  create,
  importOne,
  remove,
  removeFrom,
  restore,
  type TriggerContent,
  trigger,
} from '../../../src/domain/operations-manager/triggers.ts';
import { context, specification } from '../../support/given.ts';
import { common, endpoint, event, manual, schedule } from '../../support/samples/triggers.ts';

const given = specification(trigger);

const target = { exists: true, writable: true };

const known = { gbac: { read: [], write: [] }, target };

const stored = { migrationVersion: 3, legacyWrapper: true, formSchemaHash: null } as const;

const { legacyWrapper: _, formSchemaHash: __, ...endpointStored } = { ...stored, ...endpoint };

const { formSchemaHash: ___, ...eventStored } = { ...stored, ...event };

const made = (content: TriggerContent) => ({ topic: 'triggerCreated', data: content }) as const;

const scheduled = made({ ...stored, ...schedule });

const ignored = {
  lastExecuted: 5,
  created: '2020-01-01T00:00:00.000Z',
  createdBy: 'somebody',
  lastUpdated: '2020-01-01T00:00:00.000Z',
  lastUpdatedBy: null,
};

describe('A trigger', () => {
  it('is created in each of its four variants, defaults filled in', () => {
    given().when(create, endpoint, known).then(made(endpointStored));
    given().when(create, event, known).then(made(eventStored));
    given()
      .when(create, manual, known)
      .then(made({ ...stored, ...manual }));
    given().when(create, schedule, known).then(scheduled);
  });

  it('leaves out times, authors and bookkeeping that a copy brings along', () => {
    given()
      .when(create, { ...schedule, ...ignored, nextRunAt: 1, lastIntervalStart: 1 }, known)
      .then(scheduled);
  });

  it('refuses an automation that is not there, or that the actor may not change', () => {
    given()
      .when(create, manual, { ...known, target: { exists: false, writable: false } })
      .thenRefused('not_found', /\/actionId/);
    given()
      .when(create, manual, { ...known, target: { exists: true, writable: false } })
      .thenRefused('forbidden', /\/actionId/);
  });

  it('refuses a filter that cannot be compiled, and a topic with a colon', () => {
    given()
      .when(create, event, { ...known, schemaFault: 'remote reference' })
      .thenRefused('invalid', /remote reference.*\/schema/);
    given()
      .when(create, { ...event, topic: 'a:b' }, known)
      .thenRefused('invalid', /\/topic/);
  });

  it('derives the interval of a schedule from unit and frequency', () => {
    const lengths = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };
    for (const [repeatUnit, length] of Object.entries(lengths) as [keyof typeof lengths, number][]) {
      given()
        .when(create, { ...schedule, repeatUnit, repeatFrequency: 3 }, known)
        .then(made({ ...stored, ...schedule, repeatUnit, repeatFrequency: 3, repeatInterval: 3 * length }));
    }
    given()
      .when(create, { ...schedule, repeatUnit: 'hour', repeatFrequency: 2, repeatInterval: 7_200_000 }, known)
      .then(made({ ...stored, ...schedule, repeatUnit: 'hour', repeatFrequency: 2, repeatInterval: 7_200_000 }));
    given()
      .when(create, { ...schedule, repeatInterval: 90_000 }, known)
      .then(made({ ...stored, ...schedule, repeatInterval: 90_000 }));
  });

  it('refuses an interval that contradicts unit and frequency, or half of them', () => {
    given()
      .when(create, { ...schedule, repeatUnit: 'day', repeatFrequency: 1, repeatInterval: 1000 }, known)
      .thenRefused('invalid', /\/repeatInterval/);
    given()
      .when(create, { ...schedule, repeatUnit: 'day' }, known)
      .thenRefused('invalid', /\/repeatFrequency/);
    given()
      .when(create, { ...schedule, repeatFrequency: 2 }, known)
      .thenRefused('invalid', /\/repeatUnit/);
    given()
      .when(create, { ...schedule, repeatUnit: 'week', repeatFrequency: Number.MAX_SAFE_INTEGER }, known)
      .thenRefused('invalid', /\/repeatFrequency/);
  });

  it('takes a repetition tree in place of an interval, not beside it', () => {
    const repeat = {
      type: 'repeating',
      components: [
        { action: 'execute', duration: { unit: 'hour', quantity: 1 } },
        { action: 'wait', duration: { unit: 'day', quantity: 1 } },
      ],
    } as const;
    given()
      .when(create, { ...schedule, repeat }, known)
      .then(made({ ...stored, ...schedule, repeat }));
    given()
      .when(create, { ...schedule, repeat, repeatInterval: 1000 }, known)
      .thenRefused('invalid', /\/repeat"/);
  });

  it('refuses nodes of a repetition tree that have none of the forms, saying where', () => {
    const refused = (node: unknown, path: RegExp) =>
      given()
        .when(create, { ...schedule, repeat: { type: 'repeating', components: [node] } } as NewTrigger, known)
        .thenRefused('invalid', path);
    refused({ action: 'run' }, /\/repeat\/components\/0\/action/);
    refused({ sometimes: true }, /\/repeat\/components\/0/);
    refused({ action: 'execute', duration: { unit: 'hour' } }, /\/repeat\/components\/0\/duration/);
    refused({ start: '2026-01-01T00:00:00.000Z' }, /\/repeat\/components\/0\/components/);
    refused({ start: '2026-01-01T00:00:00.000Z', components: [], count: 2 }, /\/repeat\/components\/0\/count/);
    refused({ start: 'tomorrow', components: [] }, /\/repeat\/components\/0\/start/);
  });

  it('bounds depth and size of a repetition tree', () => {
    const deep = (levels: number): object =>
      levels === 1 ? { action: 'execute' } : { type: 'terminating', components: [deep(levels - 1)] };
    const wide = (nodes: number) => ({
      type: 'terminating',
      action: 'execute',
      components: Array.from({ length: nodes - 1 }, () => ({ action: 'wait' })),
    });
    const content = (repeat: object) => ({ ...stored, ...schedule, repeat }) as TriggerContent;
    given()
      .when(create, content(deep(16)), known)
      .then(made(content(deep(16))));
    given()
      .when(create, content(deep(17)), known)
      .thenRefused('invalid', /16 levels/);
    given()
      .when(create, content(wide(1000)), known)
      .then(made(content(wide(1000))));
    given()
      .when(create, content(wide(1001)), known)
      .thenRefused('invalid', /1000 nodes/);
  });
});

describe('A change of a trigger', () => {
  it('says only what changes, and nothing when that is so already', () => {
    given(scheduled)
      .when(change, { enabled: false, name: 'On call' }, known)
      .then({ topic: 'triggerChanged', data: { enabled: false } });
    given(scheduled, { topic: 'triggerChanged', data: { enabled: false } })
      .when(change, { enabled: false }, known)
      .thenNothing();
  });

  it('takes description and options away with null', () => {
    const told = made({ ...stored, ...manual, description: 'By hand', options: { actionId: '00ff' } });
    given(told)
      .when(change, { description: null }, known)
      .then({ topic: 'triggerChanged', data: { description: null } });
    given(told, { topic: 'triggerChanged', data: { description: null } })
      .when(change, { description: null }, known)
      .thenNothing();
    given(told)
      .when(change, { options: null, enabled: false }, known)
      .then({ topic: 'triggerChanged', data: { enabled: false, options: null } });
  });

  it("keeps to the variant: neither another type nor another variant's members", () => {
    given(scheduled)
      .when(change, { type: 'manual' }, known)
      .thenRefused('invalid', /\/type/);
    given(scheduled)
      .when(change, { routeName: 'call' }, known)
      .thenRefused('invalid', /\/routeName/);
    given(scheduled)
      .when(change, { type: 'schedule', enabled: false }, known)
      .then({ topic: 'triggerChanged', data: { enabled: false } });
  });

  it('brings a new interval with a new unit or frequency, none without them', () => {
    const hourly = made({ ...stored, ...schedule, repeatUnit: 'hour', repeatFrequency: 1, repeatInterval: 3_600_000 });
    given(hourly)
      .when(change, { repeatFrequency: 2 }, known)
      .then({ topic: 'triggerChanged', data: { repeatFrequency: 2, repeatInterval: 7_200_000 } });
    given(hourly)
      .when(change, { repeatUnit: null, repeatFrequency: null }, known)
      .then({ topic: 'triggerChanged', data: { repeatUnit: null, repeatFrequency: null, repeatInterval: null } });
    given(hourly)
      .when(change, { repeatInterval: 1000 }, known)
      .thenRefused('invalid', /\/repeatInterval/);
  });

  it('moves it to another automation if that is there and may be changed', () => {
    const actionId = 'b'.repeat(24);
    given(scheduled).when(change, { actionId }, known).then({ topic: 'triggerChanged', data: { actionId } });
    given(scheduled)
      .when(change, { actionId }, { ...known, target: { exists: false, writable: false } })
      .thenRefused('not_found', /\/actionId/);
    given(scheduled)
      .when(change, { actionId }, { ...known, target: { exists: true, writable: false } })
      .thenRefused('forbidden', /\/actionId/);
  });
});

describe('The end of a trigger', () => {
  it('comes on request', () => given(scheduled).when(remove, undefined).then({ topic: 'triggerDeleted', data: {} }));

  it('comes with its automation, unless it has moved to another one or is gone', () => {
    const { actionId } = common;
    given(scheduled).when(removeFrom, { actionId }).then({ topic: 'triggerDeleted', data: {} });
    given(scheduled, { topic: 'triggerDeleted', data: {} }).when(removeFrom, { actionId }).thenNothing();
    given(scheduled, { topic: 'triggerChanged', data: { actionId: 'b'.repeat(24) } })
      .when(removeFrom, { actionId })
      .thenNothing();
    given().when(removeFrom, { actionId }).thenNothing();
  });
});

describe('An imported trigger', () => {
  const refs = { ...known, accounts: { jo: 'c'.repeat(24) } };
  const authors = {
    created: '2020-01-01T00:00:00.000Z',
    createdBy: 'jo',
    lastUpdated: '2021-01-01T00:00:00.000Z',
    lastUpdatedBy: 'somebody',
  };
  const document = { _id: context.id, ...schedule, ...authors };
  /** What is stored of the document, beside the content. */
  const equal = Object.fromEntries(Object.keys(schedule).map((name) => [name, { $same: true }]));
  const imported = { _id: context.id, ...equal, ...authors };
  const restored = {
    topic: 'triggerRestored',
    data: { ...stored, ...schedule, ...authors, createdBy: 'c'.repeat(24), imported },
  } as const;

  it('keeps times and authors, who become ids of accounts where there are such', () =>
    given().when(importOne, { trigger: document }, refs).then(restored));

  it('is of now and the actor where the document does not say', () => {
    const { created, createdBy, lastUpdated, lastUpdatedBy, ...rest } = document;
    const now = {
      created: context.now,
      createdBy: context.actor.id,
      lastUpdated: context.now,
      lastUpdatedBy: context.actor.id,
    };
    given()
      .when(importOne, { trigger: rest }, refs)
      .then({
        topic: 'triggerRestored',
        data: { ...stored, ...schedule, ...now, imported: { _id: context.id, ...equal } },
      });
  });

  it('runs by who imports it, unless this is an admin, if it runs by itself', () => {
    const actor = { ...context.actor, id: 'b'.repeat(24), admin: false };
    const importing = (content: object): unknown => {
      const [restoring] = importOne(
        { exists: false },
        { trigger: { _id: context.id, ...content } },
        { ...context, actor, refs },
      );
      return restoring?.topic === 'triggerRestored' && restoring.data.lastUpdatedBy;
    };
    for (const content of [schedule, event])
      for (const lastUpdatedBy of ['jo', 'c'.repeat(24), 'somebody', null])
        assert.equal(importing({ ...content, ...authors, lastUpdatedBy }), actor.id);
    for (const content of [{ ...manual, formId: null }, endpoint])
      assert.equal(importing({ ...content, ...authors }), 'somebody');
  });

  it('is no change when it is so already', () =>
    given(restored).when(importOne, { trigger: document }, refs).thenNothing());

  it('refuses other content under a used id unless it may overwrite', () => {
    given(restored)
      .when(importOne, { trigger: { ...document, enabled: false } }, refs)
      .thenRefused('conflict', /\/_id/);
    given(restored)
      .when(importOne, { trigger: { ...document, enabled: false }, overwrite: true }, refs)
      .then({ topic: 'triggerRestored', data: { ...restored.data, enabled: false } });
  });

  it('may come back after a delete', () =>
    given(restored, { topic: 'triggerDeleted', data: {} }).when(importOne, { trigger: document }, refs).then(restored));

  it('always leaves an event where an import of its automation has decided', () =>
    given(restored).when(restore, restored.data).then(restored));
});
