import assert from 'node:assert/strict';
import type { Members } from '@automation-platform/json';
import type { Context } from '../../../src/domain/engine/core.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import {
  automationImport,
  decideImport as decide,
  type ImportRefs,
} from '../../../src/domain/operations-manager/automationImports.ts';
import { context, specification } from '../../support/given.ts';
import { a, authors, b, manual, one, stored, t1, t2, two } from '../../support/samples/automationImports.ts';

const defaults = { migrationVersion: 3, legacyWrapper: true, formSchemaHash: null } as const;

const content = (name: string, actionId: string = a) => ({ name, ...manual, actionId, ...defaults });

const document = { _id: a, ...stored, ...authors, triggers: [one, two] };

/** One order in so many is tried. */
const every = process.env.SOAK_ROUNDS ? 1 : 20;

/** All orders of so many of each word. */
const arrangements = (words: readonly string[], each: number): readonly (readonly string[])[] => {
  const left = new Map(words.map((word) => [word, each]));
  const from = (length: number): readonly (readonly string[])[] =>
    length === 0
      ? [[]]
      : words.flatMap((word) => {
          const count = left.get(word) ?? 0;
          if (count === 0) return [];
          left.set(word, count - 1);
          const rests = from(length - 1);
          left.set(word, count);
          return rests.map((rest) => [word, ...rest]);
        });
  return from(words.length * each);
};

/** The documents have no secrets, so they are the same when they are sealed. */
type Refs = Omit<ImportRefs, 'sealed'>;

const decideImport = (
  state: unknown,
  { automation: sealed, overwrite = false }: { readonly automation: Members; readonly overwrite?: boolean },
  context: Context<Refs>,
) => decide(state, { overwrite }, { ...context, refs: { ...context.refs, sealed } });

const nth = (n: number): string => String(n + 1).repeat(24);

const accesses = { own: 'write', hidden: 'none', readOnly: 'read' } as const;

/** Triggers of other automations: `own`, `hidden` or `readOnly`, those that are deleted with the prefix `gone `. */
const of = (...whose: readonly string[]): Refs['elsewhere'] =>
  new Map(
    whose.map((each, n) => {
      const exists = !each.startsWith('gone ');
      const access = accesses[each.replace('gone ', '') as keyof typeof accesses];
      return [nth(n), { exists, access }];
    }),
  );

const nothing: Refs = {
  id: a,
  access: 'write',
  triggers: [],
  elsewhere: new Map(),
  unknownGroups: [],
  accounts: { jo: 'c'.repeat(24) },
  faults: [],
  named: false,
  forms: [],
  formIds: [],
  sameComponent: false,
};

const there: Refs = {
  ...nothing,
  existing: stored,
  triggers: [
    { id: t1, content: content('One') },
    { id: t2, content: content('Two') },
  ],
};

const now = {
  created: context.now,
  createdBy: context.actor.id,
  lastUpdated: context.now,
  lastUpdatedBy: context.actor.id,
};

const same = { $same: true };

const equal = (members: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, names.includes(name) ? same : value]));

/** What is stored of the document, beside the content. */
const importedAs = (id: string, triggers: readonly string[]) => ({
  imported: equal({ _id: id, ...stored, ...authors, triggers }, Object.keys(stored)),
});

const importedTrigger = (_id: string) => ({
  imported: equal({ _id, name: '', ...manual }, ['name', ...Object.keys(manual)]),
});

const automation = { _id: a, ...stored, ...authors, createdBy: 'c'.repeat(24) };

describe('The import of an automation', () => {
  const given = specification(automationImport);

  it('decides on the automation and all its triggers at once', () => {
    given()
      .when(decideImport, { automation: document }, nothing)
      .then({
        topic: 'automationImported',
        data: {
          automation: { ...automation, ...importedAs(a, [t1, t2]) },
          triggers: [
            { _id: t1, ...content('One'), ...now, ...importedTrigger(t1) },
            { _id: t2, ...content('Two'), ...now, ...importedTrigger(t2) },
          ],
          removed: [],
          overwrite: false,
        },
      });
  });

  it('promises the names that it gives to their streams', () => {
    const data = { automation, triggers: [{ _id: t1, ...content('One'), ...now }], removed: [], overwrite: false };
    assert.deepEqual(automationImport.reservations!({ imported: data }), [
      { owner: `automation-${a}`, name: { kind: 'automation', name: 'Backup' } },
      { owner: `trigger-${t1}`, name: { kind: 'trigger', parent: a, name: 'One' } },
    ]);
  });

  it('is nothing when all is so already', () =>
    given().when(decideImport, { automation: document }, there).thenNothing());

  it('refuses other content under a used id or name unless it may overwrite', () => {
    given()
      .when(decideImport, { automation: { ...document, description: 'New' } }, there)
      .thenRefused('conflict', /\/_id/);
    given()
      .when(decideImport, { automation: { ...document, triggers: [one] } }, there)
      .thenRefused('conflict');
    given()
      .when(decideImport, { automation: document }, { ...there, id: b })
      .thenRefused('conflict', /\/name/);
  });

  it('overwrites: triggers change, come and go as the document says', () => {
    const three = { _id: '3'.repeat(24), name: 'Three', ...manual };
    given()
      .when(
        decideImport,
        { automation: { ...document, triggers: [{ ...one, enabled: false }, three] }, overwrite: true },
        there,
      )
      .then({
        topic: 'automationImported',
        data: {
          automation: { ...automation, ...importedAs(a, [t1, three._id]) },
          triggers: [
            { _id: t1, ...content('One'), enabled: false, ...now, ...importedTrigger(t1) },
            { _id: three._id, ...content('Three'), ...now, ...importedTrigger(three._id) },
          ],
          removed: [t2],
          overwrite: true,
        },
      });
  });

  it('leaves triggers alone that the document does not speak of', () => {
    const { triggers: _, ...silent } = document;
    given()
      .when(decideImport, { automation: { ...silent, description: 'New' }, overwrite: true }, there)
      .then({
        topic: 'automationImported',
        data: {
          automation: {
            ...automation,
            description: 'New',
            imported: equal({ _id: a, ...stored, ...authors }, Object.keys(stored)),
          },
          triggers: [],
          removed: [],
          overwrite: true,
        },
      });
  });

  it('overwrites an automation with its name, whose id it takes; triggers with the same name keep theirs', () => {
    const namesake = { ...there, id: b, triggers: [{ id: '9'.repeat(24), content: content('One', b) }] };
    given()
      .when(
        decideImport,
        { automation: { ...document, triggers: [{ ...one, enabled: false }, two] }, overwrite: true },
        namesake,
      )
      .then({
        topic: 'automationImported',
        data: {
          automation: { ...automation, _id: b, ...importedAs(b, ['9'.repeat(24), t2]) },
          triggers: [
            { _id: '9'.repeat(24), ...content('One', b), enabled: false, ...now, ...importedTrigger('9'.repeat(24)) },
            { _id: t2, ...content('Two', b), ...now, ...importedTrigger(t2) },
          ],
          removed: [],
          overwrite: true,
        },
      });
  });

  it('finds a trigger by its id before its name, also one of another automation', () => {
    const nine = '9'.repeat(24);
    given()
      .when(decideImport, { automation: { ...document, triggers: [{ ...one, name: 'Two' }] }, overwrite: true }, there)
      .then({
        topic: 'automationImported',
        data: {
          automation: { ...automation, ...importedAs(a, [t1]) },
          triggers: [{ _id: t1, ...content('Two'), ...now, ...importedTrigger(t1) }],
          removed: [t2],
          overwrite: true,
        },
      });
    given()
      .when(
        decideImport,
        { automation: { ...document, triggers: [one] }, overwrite: true },
        { ...there, triggers: [{ id: nine, content: content('One') }], elsewhere: of('own') },
      )
      .then({
        topic: 'automationImported',
        data: {
          automation: { ...automation, ...importedAs(a, [t1]) },
          triggers: [{ _id: t1, ...content('One'), ...now, ...importedTrigger(t1) }],
          removed: [nine],
          overwrite: true,
        },
      });
  });

  it('is nothing when it has overwritten the automation with its name already', () => {
    const namesake = {
      ...there,
      id: b,
      triggers: [
        { id: t1, content: content('One', b) },
        { id: t2, content: content('Two', b) },
      ],
    };
    given().when(decideImport, { automation: document, overwrite: true }, namesake).thenNothing();
  });

  it('takes triggers from other automations only by overwriting, and only if the actor may change all of them', () => {
    const orders = [
      ['own', 'hidden'],
      ['hidden', 'own'],
      ['own', 'readOnly'],
      ...arrangements(['own', 'hidden', 'readOnly'], 3),
    ];
    for (const [n, order] of orders.entries()) {
      if (n > 2 && n % every > 0) continue;
      const triggers = order.map((_, n) => ({ ...one, _id: nth(n), name: `t${n}` }));
      const refs = {
        ...nothing,
        elsewhere: of(...order),
        faults: order.map(() => ({})),
        forms: order.map(() => undefined),
      };
      const placesOf = (...whose: readonly string[]) =>
        order.flatMap((each, n) => (whose.includes(each) ? [`/triggers/${n}/_id`] : []));
      const [hidden, readOnly] = [placesOf('hidden'), placesOf('readOnly')];
      assert.throws(
        () => decideImport({}, { automation: { ...document, triggers }, overwrite: true }, { ...context, refs }),
        (error) => {
          assert.ok(error instanceof RequestError);
          const expected = hidden.length > 0 ? ['conflict', hidden] : ['forbidden', readOnly];
          assert.deepEqual([error.code, error.faults.map(({ path }) => path)], expected, String(order));
          return true;
        },
      );
    }
    given()
      .when(decideImport, { automation: document }, { ...nothing, elsewhere: of('own', 'own') })
      .thenRefused('conflict', /triggers\/0\/_id.*triggers\/1\/_id/);
    const own = { ...nothing, elsewhere: of('own', 'own') };
    const [taken] = decideImport({}, { automation: document, overwrite: true }, { ...context, refs: own });
    assert.equal(taken!.data.triggers.length, 2);
  });

  it('counts the id of a deleted trigger as taken for those who did not pass its last lists', () => {
    for (const overwrite of [false, true]) {
      const attempt = (whose: keyof typeof accesses) =>
        given().when(decideImport, { automation: document, overwrite }, { ...nothing, elsewhere: of(`gone ${whose}`) });
      attempt('hidden').thenRefused('conflict', /\/triggers\/0\/_id/);
      attempt('readOnly').thenRefused('forbidden', /\/triggers\/0\/_id/);
      const own = { ...nothing, elsewhere: of('gone own') };
      const [taken] = decideImport({}, { automation: document, overwrite }, { ...context, refs: own });
      assert.equal(taken!.data.triggers.length, 2);
    }
  });

  it('refuses who may not see or change what it would overwrite, or what was deleted', () => {
    for (const refs of [there, nothing])
      for (const overwrite of [false, true]) {
        const attempt = (access: 'none' | 'read') =>
          given().when(decideImport, { automation: document, overwrite }, { ...refs, access });
        attempt('none').thenRefused('conflict', /An automation with this id exists with other content.*"\/_id"/);
        attempt('read').thenRefused('forbidden');
      }
  });

  it('refuses documents that contradict themselves, saying where', () => {
    const refuse = (triggers: typeof document.triggers, path: RegExp, refs = nothing) =>
      given()
        .when(decideImport, { automation: { ...document, triggers } }, refs)
        .thenRefused('invalid', path);
    refuse([one, { ...two, _id: t1 as never }], /\/triggers\/1\/_id/);
    refuse([one, { ...two, name: 'One' as never }], /\/triggers\/1\/name/);
    refuse([one, { ...two, actionId: b as never }], /\/triggers\/1\/actionId/);
    refuse([one, two], /\/triggers\/1\/schema/, { ...nothing, faults: [{}, { schemaFault: 'no' }] });
    given()
      .when(decideImport, { automation: { ...document, gbac: { write: ['x'] } } }, { ...nothing, unknownGroups: ['x'] })
      .thenRefused('not_found', /x/);
  });
});
