import assert from 'node:assert/strict';
import type { TSchema } from 'typebox';
import { forNobody } from '../../../src/audit/auditEvent.ts';
import { reactions } from '../../../src/commands/all.ts';
import { aggregates } from '../../../src/domain/all.ts';
import { areas as areaNames } from '../../../src/domain/engine/core.ts';
import { streamsAbout } from '../../../src/domain/engine/resource.ts';
import { retirement } from '../../../src/domain/engine/retirement.ts';
import { publishedEvent } from '../../../src/domain/operations-manager/publishedEvents.ts';
import { areas } from '../../../src/http/areas.ts';
import type { AreaRoutes, Route } from '../../../src/http/engine/route.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';
import { forAdmins, getRows, listOfDenials, listOfEvents, records } from '../../../src/http/events/eventAccess.ts';
import { projections } from '../../../src/projections/all.ts';
import type { Collection } from '../../../src/projections/engine/define.ts';
import { eventTypes } from '../../../src/projections/engine/eventTypes.ts';
import { hiddenCategories } from '../../../src/store/auditIndex/found.ts';

const placed = areas.flatMap((area) => area.routes.map((row) => ({ area, row, path: fullPathOf(area, row) })));

/** Topics that no document shows. This list may only shrink. */
const unprojected = new Set([
  'nameClaimed',
  'turnTaken',
  'endedRetired', // it removes documents of other streams
  'automationImported',
  'plansDeleted',
  'treesDeleted',
  'jobsMoved',
  'deviceGroupsImported',
  'deviceGroupsDeleted',
  'deviceTemplatesDeleted',
  'deviceConfigurationAttempted',
  'deviceConfigurationApplied',
  'deviceConfigurationConfirmed',
  'deviceConfigurationFailed',
  'configurationBackupsDeleted',
  'deviceTurnTaken',
  'deviceTurnExtended',
  'deviceTurnLeft',
  'inventorySyncRequested',
  'hostKeyPinned',
  'hostKeyRemoved',
  'requestsDenied',
  'exported',
  'secretsHandedOut',
]);

/** Routes whose commands have other names, because an operation's name is documented or one command serves several. */
const commandsOfRoutes: Readonly<Record<string, string>> = {
  'agent-session-manager updateAgent': 'replaceAgent',
  'agent-session-manager runAgent': 'startSession',
  'agent-session-manager cancelSession': 'endSession',
  'agent-session-manager completeSession': 'endSession',
  'agent-session-manager failSession': 'endSession',
  'configuration-manager createTreeVersion': 'addTreeVersion',
  'configuration-manager addTreeNodeDevices': 'changeTreeNodeDevices',
  'configuration-manager removeTreeNodeDevices': 'changeTreeNodeDevices',
  'configuration-manager addTreeNodeGroups': 'changeTreeNodeDevices',
  'configuration-manager removeTreeNodeGroups': 'changeTreeNodeDevices',
  'configuration-manager setVariables': 'setTreeVariables',
  'configuration-manager deleteVariables': 'deleteTreeVariables',
  'configuration-manager importGroups': 'importDeviceGroups',
  'configuration-manager updateAdapter': 'replaceAdapter',
  'configuration-manager updateCredential': 'replaceCredential',
  'inventory-manager addNodes': 'addInventoryNodes',
  'inventory-manager replaceNodes': 'replaceInventoryNodes',
  'inventory-manager updateNode': 'updateInventoryNode',
  'inventory-manager deleteNode': 'deleteInventoryNode',
  'inventory-manager clearNodes': 'clearInventoryNodes',
  'lifecycle-manager createResourceInstance': 'createInstance',
  'lifecycle-manager updateResourceInstance': 'updateInstance',
  'lifecycle-manager deleteResourceInstance': 'deleteInstance',
  'lifecycle-manager createGroup': 'createResourceGroup',
  'lifecycle-manager updateGroup': 'updateResourceGroup',
  'lifecycle-manager deleteGroup': 'deleteResourceGroup',
  'lifecycle-manager cancelActionExecution': 'cancelExecution',
  'mop createTemplate': 'createCommandTemplate',
  'mop updateTemplate': 'updateCommandTemplate',
  'mop deleteTemplate': 'deleteCommandTemplate',
  'operations-manager pauseJobs': 'moveJobs',
  'operations-manager resumeJobs': 'moveJobs',
  'operations-manager cancelJobs': 'moveJobs',
  'operations-manager retryJobs': 'moveJobs',
};

/** Collections that paths name in other words. */
const collectionsOfPaths: Readonly<Record<string, string>> = {
  '/agent-session-manager/sessions': 'agentSessions',
  '/agent-session-manager/sessions/:id/messages': 'agentSessionMessages',
  '/customization/banner': 'banners',
  '/configuration_manager/configs': 'trees',
  '/configuration_manager/compliance_reports/batch': 'complianceReports',
  '/configuration_manager/compliance_reports/details': 'complianceReports',
  '/configuration_manager/credentials': 'deviceCredentials',
  '/configuration_manager/templates': 'deviceTemplates',
  '/lifecycle-manager/resources': 'resourceModels',
  '/lifecycle-manager/resources/:modelIdentifier/instances': 'resourceInstances',
  '/lifecycle-manager/resources/:modelIdentifier/groups': 'resourceGroups',
  '/mop/listTemplates': 'commandTemplates',
  '/operations-manager/parked': 'parkedReactions',
  '/mop/listAnalyticTemplates': 'analyticTemplates',
  '/profiles/active': 'activeProfiles',
};

/** The collection that a path names: by its last word, without the parameters and `export` that follow it. */
const collectionNamed = (path: string): string => {
  const end = path.replace(/(?:\/:\w+|\/export)+$/, '');
  return collectionsOfPaths[end] ?? end.slice(end.lastIndexOf('/') + 1);
};
const plainWord = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '');

/** The titles of the documents in a schema, without those within a document. */
const titlesIn = (schema: unknown): readonly string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(titlesIn);
  const { title } = schema as { readonly title?: unknown };
  return typeof title === 'string' ? [title] : Object.values(schema).flatMap(titlesIn);
};

/** Schemas of documents that several kinds of streams share. */
const sharedSchemas: Readonly<Record<string, readonly string[]>> = {
  'body JobIds': ['watching', 'jobMoveDecision'],
  'answer Job': ['job', 'jobMoveDecision'],
  'answer Profile': ['profile', 'activeProfile'],
};

/** The kind of stream that a route is about; undefined for other operations. */
const kindOf = (row: Route): string | undefined => {
  if ('command' in row) return row.command.aggregate.category;
  if ('get' in row) return row.get.of.category;
  if (!('list' in row && row.list && 'collection' in row.list)) return undefined;
  const { collection } = row.list as Collection;
  return projections.find((one) => one.collection === collection || one.children?.collection === collection)?.of
    .category;
};

const collections = [
  eventTypes.collection,
  ...projections.flatMap(({ collection, children }) => (children ? [collection, children.collection] : [collection])),
];

/** Whether the path has the parameter that names the resource, or a function says its name. */
const namesOne = ({ path, named = 'id' }: { readonly path: string; readonly named?: unknown }): boolean =>
  typeof named === 'function' || path.split('/').includes(`:${String(named)}`);

/** What a path matches, with every parameter a wildcard. */
const shape = (path: string): string => path.replace(/:[A-Za-z]+/g, '*');

const shadows = (earlier: string, later: string): boolean => {
  const [a, b] = [shape(earlier).split('/'), shape(later).split('/')];
  return a.length === b.length && a.every((part, i) => part === '*' || part === b[i]);
};

const described = (schema: TSchema & Record<string, any>, where: string): void => {
  // a schema is any JSON
  for (const [name, member] of Object.entries<any>(schema.properties ?? {})) {
    assert.ok(
      member.description ?? member.$ref ?? member.anyOf ?? member.const ?? member.properties ?? member.items,
      `${where}.${name} has no description`,
    );
    described(member, `${where}.${name}`);
  }
  if (schema.type === 'object' && schema.properties)
    assert.notEqual(schema.additionalProperties, undefined, `${where} takes any member without saying so`);
};

/** Rows that show how people get in, and who was refused. */
const rowsNotForReaders = new Set([listOfDenials.name, 'getProviders', 'getProvider', 'getDeviceBackup']);

describe('conventions', () => {
  it('one projection of each kind of stream shows the resource', () => {
    const main = projections.filter(({ beside }) => !beside).map(({ of }) => of.category);
    assert.deepEqual([...new Set(main)], main);
    assert.deepEqual(new Set(main), new Set(projections.map(({ of }) => of.category)));
  });

  for (const { area, row, path } of placed) {
    describe(`${row.method.toUpperCase()} ${path}`, () => {
      it('says what it does', () => assert.match(row.summary, /^[A-Z].*[^.]$/));
      it('is alone under its method, path and name', () => {
        assert.equal(placed.filter((other) => other.path === path && other.row.method === row.method).length, 1);
        assert.equal(
          placed.filter(
            (other) =>
              other.area.area === area.area &&
              other.row.name === row.name &&
              other.row.path !== row.path &&
              !(row.alias ?? other.row.alias),
          ).length,
          0,
          `${row.name} names two paths`,
        );
      });
      if (row.alias)
        it('is another address of one row of ours', () => {
          const same = placed.filter((other) => other.area.area === area.area && other.row.name === row.name);
          assert.equal(same.filter((other) => other.row.alias).length, 1);
          assert.deepEqual(same.find((other) => !other.row.alias)?.row.access, row.access);
        });
      it('is not hidden by an earlier row', () => {
        const rows = area.routes as readonly Route[];
        for (const earlier of rows.slice(0, rows.indexOf(row))) {
          if (earlier.method === row.method)
            assert.ok(!shadows(fullPathOf(area, earlier), path), `${earlier.path} comes first`);
        }
      });
      if (row.body) it('describes its body, which takes nothing unknown', () => described(row.body!, 'body'));
      it('says which built-in groups may call it, if only that none may', () => {
        if (typeof row.access === 'string') return assert.match(row.access, /^(open|login)$/);
        assert.ok(Array.isArray(row.access), `${row.name} says nothing: access: [] if admins and roles alone`);
        for (const group of row.access) assert.match(group, /^(operators|readers)$/);
        if (row.method === 'get' && !rowsNotForReaders.has(row.name))
          assert.ok(row.access.includes('readers'), `${row.name} is for readers as well`);
      });
      if ('command' in row) {
        it('runs a command of its own area, on a kind of stream that is wired', () => {
          const { aggregate } = row.command;
          assert.equal(aggregate.area, area.area as AreaRoutes['area']);
          assert.ok(aggregates.includes(aggregate), `${aggregate.category} is in no projection of projections/all.ts`);
        });
        it('runs the command of its name', () => {
          const { name } = row.command;
          assert.equal(name, commandsOfRoutes[`${area.area} ${row.name}`] ?? row.name, `${row.name} runs ${name}`);
        });
        it('says which resource it changes: a new one, or one that the path or the body names', () => {
          const { on, name } = row.command;
          if (row.key) return;
          if (on === 'new') assert.ok(!/:\w+$/.test(row.path), `${name} makes a new resource, but the path names one`);
          else assert.ok(namesOne(row), `${name} changes a resource that ${row.path} does not name`);
        });
      }
      if ('get' in row)
        it('says which document it shows, of a projection that is wired', () => {
          assert.ok(row.key || namesOne(row), `${row.path} names no document`);
          assert.ok(projections.includes(row.get), `${row.get.collection} is not in projections/all.ts`);
          const named = collectionNamed(path);
          assert.equal(plainWord(row.get.collection), plainWord(named), `${path} shows ${row.get.collection}`);
        });
      if ('list' in row && row.list && 'collection' in row.list) {
        const { collection } = row.list as Collection;
        it('lists the documents that its path names, of a projection that is wired', () => {
          assert.ok(collections.includes(collection), `${collection} is not in projections/all.ts`);
          assert.equal(plainWord(collection), plainWord(collectionNamed(path)), `${path} lists ${collection}`);
        });
      }
    });
  }

  for (const member of ['body', 'answer'] as const)
    it(`a document in the ${member} of a route belongs to one kind of stream`, () => {
      const kinds = new Map<string, Set<string>>();
      for (const { row } of placed) {
        const kind = kindOf(row);
        if (kind === undefined) continue;
        for (const title of titlesIn(row[member])) kinds.set(title, (kinds.get(title) ?? new Set()).add(kind));
      }
      for (const [title, found] of kinds) {
        const allowed = sharedSchemas[`${member} ${title}`] ?? [];
        const others = [...found].filter((kind) => !allowed.includes(kind));
        const all = [...found].join(', ');
        assert.ok(others.length === 0 || found.size === 1, `${title} is the ${member} of routes of ${all}`);
      }
    });

  it('every area has the prefix and provenance of the contract', () => {
    for (const { area } of areas) assert.ok(area === 'service' || areaNames.includes(area), area);
    const named = areas.filter(({ area, compatible }) => area !== 'service' && !compatible);
    assert.equal(new Set(named.map(({ prefix }) => prefix)).size, named.length);
  });

  for (const aggregate of aggregates) {
    it(`${aggregate.category} has a category and topics that can be streams and types`, () => {
      assert.match(aggregate.category, /^[a-z][A-Za-z]*$/);
      assert.equal(aggregates.filter(({ category }) => category === aggregate.category).length, 1);
      for (const topic of Object.keys(aggregate.evolve)) assert.match(topic, /^[a-z][A-Za-z]*[a-z]$/);
    });
    for (const topic of Object.keys(aggregate.evolve)) {
      it(`${aggregate.category}: ${topic} is shown by a document, or is on the list of those that are not`, () => {
        const shown = projections.some(({ of, on }) => of === aggregate && topic in on);
        assert.notEqual(
          shown,
          unprojected.has(topic),
          shown ? `${topic} is shown now: take it off the list` : `${topic} is in no projection`,
        );
      });
    }
  }

  it('one area has a topic once', () => {
    const seen = new Set<string>();
    for (const { area, evolve } of aggregates) {
      for (const topic of Object.keys(evolve)) {
        assert.ok(!seen.has(`${area}:${topic}`), `${area}:${topic}`);
        seen.add(`${area}:${topic}`);
      }
    }
  });

  it('collections are filled by one projection each', () => {
    const doubled = collections.filter((collection, i) => collections.indexOf(collection) < i);
    assert.deepEqual(doubled, [], 'These collections are filled by several projections');
  });

  it('every kind of stream says who sees its events: the callers of a GET row, admins, or nobody', () => {
    const rows = getRows(areas);
    for (const { category } of aggregates) {
      const said = [
        // A GET row may show a resource whose events nobody sees, as parked ones, or admins alone, as tokens.
        rows.has(category) && ![...forNobody, ...forAdmins].includes(category),
        category === publishedEvent.category,
        forAdmins.includes(category),
        forNobody.includes(category),
        Object.hasOwn(streamsAbout, category),
      ].filter(Boolean).length;
      assert.equal(said, 1, `${category}: give it a GET row, or a place in exactly one list of eventAccess.ts`);
    }
    const kinds = new Set(aggregates.map(({ category }) => category));
    for (const category of [...forAdmins, ...forNobody]) assert.ok(kinds.has(category), `there is no ${category}`);
  });

  it('audits show nothing of internal streams but records of requests, and retirements to admins', () => {
    for (const category of forNobody.filter((one) => one !== retirement.category))
      assert.notEqual(records.includes(category), hiddenCategories.includes(category), category);
  });

  it('who may list events sees published ones', () => {
    const row = placed.find(({ row: { name } }) => name === listOfEvents.name)?.row;
    if (row) assert.deepEqual([...row.access].sort(), [...listOfEvents.access].sort());
  });

  it('reactions react to topics that exist', () => {
    for (const { of, on } of reactions) for (const topic of Object.keys(on)) assert.ok(topic in of.evolve, topic);
  });
});
