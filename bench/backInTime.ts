import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { groupMapping, groupMappingId } from '../src/domain/group-mappings/groupMappings.ts';
import { foldStreams } from '../src/projections/asOf/pastReads.ts';
import { openSqliteReader } from '../src/store/sqlite/store.ts';
import { type Findings, inTurn, milliseconds, perSecond, progress, scale, seconds } from './compare.ts';
import { mappingOf, mappingPath, mappings } from './kinds.ts';
import { loader } from './loader.ts';
import { writeLog } from './logs.ts';
import { type Service, startService, temporary } from './processes.ts';
import { admin, basic, request } from './requests.ts';
import { ready } from './service.ts';

const list = '/group-mappings';
const documents = 100_000;
const eventsEach = 3;
const measuredEvents = 250_000;
const longStream = 20_000;
const authorization = { Authorization: basic(admin) };

const serviceOn = async (documents: number, eventsEach: number) => {
  progress(`writing a log of ${documents * eventsEach} events`);
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  const file = join(folder, 'events.db');
  writeLog(file, { kinds: [mappings], documents, eventsEach });
  const service = await startService(folder);
  await ready(service.url);
  return { file, service };
};

/** Asks until it is answered, and gives the seconds that it took. */
const answered = async ({ url }: Service, path: string): Promise<number> => {
  const began = performance.now();
  for (;;) {
    const { status } = await fetch(url + path, { headers: authorization });
    if (status === 200) return (performance.now() - began) / 1000;
    if (status !== 503) throw new Error(`${path} answered ${status}`);
  }
};

/** (s) Documents and lists of an earlier time. */
export const backInTime = async (): Promise<Findings> => {
  const { comparisons, notes = [] } = await ofLists();
  const { comparisons: ofOne } = await ofOneDocument();
  return { comparisons: [...comparisons, ...ofOne], notes };
};

const ofLists = async (): Promise<Findings> => {
  const { service } = await serviceOn(documents, eventsEach);
  // All events of the last revision come at the end of the log, so any of these positions has nearly all of them.
  let position = documents * eventsEach;
  const first = async (): Promise<number> => answered(service, `${list}?limit=25&asOf=${position--}`);
  await first();

  const pages = (asOf: string): Uint8Array[] =>
    Array.from({ length: 200 }, (_, n) => request('GET', `${list}?limit=25&skip=${n * 25}${asOf}`, authorization));
  const now = loader(pages(''));
  const then = loader(pages(`&asOf=${position + 1}`));
  const ofPages = { connections: 1, status: 200, milliseconds: scale.milliseconds };
  const next = await inTurn('q, next page', {
    then: async () => (await then.run('as of', service, ofPages)).p50,
    now: async () => (await now.run('now', service, ofPages)).p50,
  });

  const others = loader([request('GET', mappingPath(7), authorization)]);
  const ofOthers = { connections: 4, status: 200, milliseconds: scale.milliseconds };
  const alone = async (): Promise<number> => (await others.run('others', service, ofOthers)).p99;
  const beside = async (): Promise<number> => {
    let folding = true;
    const work = (async () => {
      while (folding) await first();
    })();
    const p99 = await alone();
    folding = false;
    await work;
    return p99;
  };
  const disturbed = await inTurn('q, others', { beside, alone });

  const firsts = await inTurn('q, first list', { first });
  const scaled = firsts.first.map((took) => (took * measuredEvents) / (documents * eventsEach));
  for (const load of [now, then, others]) await load.stop();
  await service.stop();
  return {
    comparisons: [
      {
        what: `(s) first list of 25 of 100,000 mappings as of a position, per ${measuredEvents.toLocaleString('en')} events`,
        comparedWith: '3 s',
        ours: scaled,
        theirs: scaled.map(() => 3),
        shown: seconds,
        goal: { most: 1 },
      },
      {
        what: '(s) next list of 25 as of that position, median',
        comparedWith: 'the same list as of now',
        ours: next.then,
        theirs: next.now,
        shown: milliseconds,
        goal: { most: 2 },
      },
      {
        what: '(s) p99 of GET of a mapping while lists of earlier times are made',
        comparedWith: 'the same alone',
        ours: disturbed.beside,
        theirs: disturbed.alone,
        shown: milliseconds,
        goal: { most: 2 },
      },
    ],
    notes: [
      `(s) first list: ${firsts.first.map((took) => perSecond((documents * eventsEach) / took)).join(', ')} events.`,
    ],
  };
};

const ofOneDocument = async (): Promise<Findings> => {
  const { file, service } = await serviceOn(1, longStream);
  const { provenance, externalGroup } = mappingOf(0);
  const stream = `${groupMapping.category}-${groupMappingId(provenance, externalGroup)}`;
  const log = await openSqliteReader(file);
  let position = longStream;
  const found = await inTurn('q, one document', {
    asOf: async () => answered(service, `${mappingPath(0)}?asOf=${position--}`),
    fold: async () => {
      const began = performance.now();
      await foldStreams(log, [stream], position);
      return (performance.now() - began) / 1000;
    },
  });
  await log.close();
  await service.stop();
  return {
    comparisons: [
      {
        what: `(s) GET of a mapping with ${longStream.toLocaleString('en')} events as of a position`,
        comparedWith: 'folding its stream',
        ours: found.asOf,
        theirs: found.fold,
        shown: seconds,
        goal: { most: 2 },
      },
    ],
  };
};
