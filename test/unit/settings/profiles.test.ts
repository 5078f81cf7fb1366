import assert from 'node:assert/strict';
import fc from 'fast-check';
import { merged, patchBetween } from '../../../src/domain/profiles/mergePatch.ts';
import {
  activate,
  activeProfile,
  create,
  type Patch,
  type ProfileEvent,
  profile,
  profileDocument,
  remove,
  update,
} from '../../../src/domain/profiles/profiles.ts';
import { specification } from '../../support/given.ts';

const given = specification(profile);

const created: ProfileEvent = {
  topic: 'profileCreated',
  data: { properties: { description: 'One', services: ['a', 'b'], uiProps: { home: 'h', layout: 'l' } } },
};

const deleted: ProfileEvent = { topic: 'profileDeleted', data: {} };

const id = '0123456789abcdef01234567';

const says = (properties: Patch, adminRemains = true) => ({ properties, adminRemains });

const none = { properties: {} };

describe('profiles: decisions', () => {
  it('creates, leaving out what is null', () =>
    given()
      .when(create, none, says({ id, description: null, uiProps: { home: 'h', login: null } }))
      .then({ topic: 'profileCreated', data: { properties: { uiProps: { home: 'h' } } } }));
  it('creates by an update of what is missing, also after a delete', () => {
    for (const past of [[], [created, deleted]])
      given(...past)
        .when(update, none, says({ services: [] }))
        .then({ topic: 'profileCreated', data: { properties: { services: [] } } });
  });
  it('merges a group, replaces a list or scalar, removes by null: the event says what changed', () =>
    given(created)
      .when(update, none, says({ description: null, services: ['b'], uiProps: { home: 'other', layout: 'l' } }))
      .then({
        topic: 'profileUpdated',
        data: { changes: { description: null, services: ['b'], uiProps: { home: 'other' } } },
      }));
  it('changes nothing when all is so', () =>
    given(created)
      .when(update, none, says({ description: 'One', pathProps: null, uiProps: { login: null } }))
      .thenNothing());
  it("refuses another id than the path's, and the one that stands for the active profile", () => {
    given(created)
      .when(update, none, says({ id: 'other' }))
      .thenRefused('invalid', /\/properties\/id/);
    assert.throws(() => create(profile.initial, none, { id: 'active', refs: says({}) } as any), /active/); // the rest of the context is of no concern
  });
  it('refuses what would leave nobody who is an admin', () => {
    given(created)
      .when(update, none, says({ authenticationProps: { admins: ['nobody'] } }, false))
      .thenRefused('conflict', /admins/);
    given(created).when(update, none, says({}, false)).thenNothing();
  });
  it('deletes, but not the active one', () => {
    given(created).when(remove, {}, { active: false }).then(deleted);
    given(created).when(remove, {}, { active: true }).thenRefused('conflict');
  });
  it('makes one active that is there and has admins, once', () => {
    const active = specification(activeProfile);
    const refs = { exists: true, adminRemains: true };
    active()
      .when(activate, { id: 'a' }, refs)
      .then({ topic: 'profileActivated', data: { id: 'a' } });
    active({ topic: 'profileActivated', data: { id: 'a' } })
      .when(activate, { id: 'b' }, refs)
      .then({ topic: 'profileActivated', data: { id: 'b' } });
    active({ topic: 'profileActivated', data: { id: 'a' } })
      .when(activate, { id: 'a' }, refs)
      .thenNothing();
    active()
      .when(activate, { id: 'a' }, { ...refs, exists: false })
      .thenRefused('not_found');
    active()
      .when(activate, { id: 'a' }, { ...refs, adminRemains: false })
      .thenRefused('conflict');
  });

  it('have a least patch between any two, which leads from one to the other', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.integer(),
        fc.string(),
        fc.boolean(),
        fc.array(fc.integer(), { maxLength: 2 }),
        fc.constant({ $sealed: 's', tag: 't' }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor', 'toString'), tie('value'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    })).object as fc.Arbitrary<Record<string, unknown>>;
    fc.assert(
      fc.property(json, json, (from, to) => {
        const patch = patchBetween(from, to);
        assert.deepEqual(merged(from, patch ?? {}), to);
        assert.equal(patchBetween(to, to), undefined);
      }),
    );
  });

  it('are shown with the documented defaults', () =>
    assert.deepEqual(profileDocument({ id: 'x', systemProps: { eventWorkerCount: 5 } }), {
      id: 'x',
      loggerProps: { log_format_json: false, console_format_json: false },
      prebuiltProps: {},
      systemProps: {
        eventWorkerCount: 5,
        transformationWorkerCount: 3,
        taskWorkerThreadCount: 1,
        taskWorkerRateLimit: 0,
        taskWorkerRateLimitPeriod: 1,
      },
    }));
});
