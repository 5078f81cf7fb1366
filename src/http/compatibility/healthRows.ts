import { arch, cpus, freemem, loadavg, platform, release, totalmem, uptime } from 'node:os';
import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { adapters } from '../../projections/configuration-manager/adapters.ts';
import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import { readableBy } from '../../projections/engine/guards.ts';
import type { Entry } from '../../projections/engine/port.ts';
import { collectionIndex } from '../../projections/index/collectionIndex.ts';
import { dependencies, version } from '../../version.ts';
import { adapterRoutes } from '../configuration-manager/adapters.ts';
import { areaTexts } from '../documentation/openapiParts.ts';
import { listQueryOf } from '../engine/query.ts';
import type { ActionRoute, AreaRoutes, Call } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { filtersToo, queryOf, rowNamed } from './leading.ts';
import { document } from './studioAnswers.ts';

/** A part of this process: it runs as long as the process does. */
type Part = { readonly id: string; readonly state: 'RUNNING' } & Members;

const list = {
  sorts: { id: ({ id }: Part) => id },
  filters: { id: ({ id }: Part) => id, state: ({ state }: Part) => state },
};
const parse = listQueryOf({ list });

/** The page that a query asks for. */
const pageOf = (parts: readonly Part[], { querystring }: Call): Members => {
  const index = collectionIndex<Entry>({ name: 'parts', sorts: ['id'], filters: Object.keys(list.filters) });
  for (const part of parts) {
    const { id, state } = part;
    index.put({ id, revision: 0, text: JSON.stringify(part), sorts: { id }, filters: { id: [id], state: [state] } });
  }
  const { entries, total } = index.page(parse(queryOf(querystring).querystring).page);
  return { results: entries.map(({ text }) => JSON.parse(text)), total };
};

const pageAnswer = (one: string) =>
  Type.Object({
    results: Type.Array(document(one)),
    total: Type.Integer({ description: 'How many fit the filters' }),
  });

const used = () => ({ memoryUsage: process.memoryUsage(), cpuUsage: process.cpuUsage(), pid: process.pid });

/** Applications and adapters are no processes of their own. So their figures are those of the process. */
const ofProcess = (now: number) => ({
  version,
  state: 'RUNNING' as const,
  uptime: process.uptime(),
  ...used(),
  logger: {},
  timestamp: now,
  prevUptime: 0,
});

const about = { method: 'get', access: 'login', monitoring: true } as const;

/** `/health` of the machine and the process that answer. */
export const processRows = (areas: () => readonly AreaRoutes[]): readonly ActionRoute[] => [
  actionRoute({
    ...about,
    name: 'getSystemHealth',
    path: '/system',
    summary: 'Get the state of the machine',
    answer: document('The machine that answers'),
    run: async () => ({
      body: {
        arch: arch(),
        release: release(),
        uptime: uptime(),
        freemem: freemem(),
        totalmem: totalmem(),
        loadavg: loadavg(),
        cpus: cpus(),
      },
    }),
  }),
  actionRoute({
    ...about,
    name: 'getServerHealth',
    path: '/server',
    summary: 'Get the state of the process',
    answer: document('The process that answers'),
    run: async () => ({
      body: {
        version,
        release: version,
        arch: arch(),
        platform: platform(),
        versions: process.versions,
        ...used(),
        uptime: process.uptime(),
        dependencies,
      },
    }),
  }),
  actionRoute({
    ...about,
    name: 'getApplicationsHealth',
    path: '/applications',
    summary: 'List the applications by their state',
    description: `An application is an area of the API; all of them are parts of one process. ${filtersToo}`,
    list,
    answer: pageAnswer('An application'),
    run: async (call, { moment }) => {
      const own = areas().filter(({ area, compatible }) => area !== 'service' && !compatible);
      const parts = own.map(({ area, prefix }) => ({
        id: area,
        package_id: 'automation-platform',
        type: 'Application',
        description: areaTexts[area][1],
        routePrefix: prefix,
        connection: null,
        ...ofProcess(moment().now),
      }));
      return { body: pageOf(parts, call) };
    },
  }),
];

const { name, access } = rowNamed(adapterRoutes, 'getAdapters');

/** `/health` of adapters, for those who may list them. */
export const adapterRows: readonly ActionRoute[] = [
  actionRoute({
    name,
    access,
    alias: true,
    method: 'get',
    path: '/adapters',
    summary: 'List the adapters by their state',
    description:
      'Each is ready to call its devices. No connection lasts longer than a call, so the state of connections is not ' +
      `known. ${filtersToo}`,
    list,
    answer: pageAnswer('An adapter'),
    run: async (call, { model, moment }) => {
      const parts: Part[] = [];
      for await (const entries of pagesOf(model, adapters, {
        sort: 'name',
        order: 1,
        ...readableBy(call.actor, model),
      }))
        for (const entry of entries)
          parts.push({
            id: entry.id,
            package_id: documentIn(adapters, entry).type,
            type: 'Adapter',
            description: '',
            routePrefix: null,
            connection: { state: 'UNKNOWN' },
            ...ofProcess(moment().now),
          });
      return { body: pageOf(parts, call) };
    },
  }),
];
