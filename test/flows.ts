import { Session } from 'node:inspector/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { vlanRollout } from '../src/demo/prebuilts.ts';
import { builtInOf } from './support/builtIn.ts';
import { ok } from './support/people.ts';
import { startService, type TestService } from './support/service.ts';

/*
 * Counts the files and functions of `src` and `packages` that one warm request enters, with what follows from it on this
 * node. V8 counts the calls. Of several requests the one with the fewest counts, as timers may run beside some.
 */

type Entered = { readonly files: ReadonlySet<string>; readonly functions: number };

type Flow = { readonly name: string; readonly goal: number; readonly request: (n: number) => Promise<unknown> };

const warmUps = 5;
const counted = 7;
// The consequences of a request end long before.
const restMs = 300;

const own = /\/((?:src|packages)\/.*\.[jt]s)$/;

const counter = async () => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const take = async (): Promise<Entered> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files = new Set<string>();
    let functions = 0;
    for (const { url, functions: all } of result) {
      const file = own.exec(url)?.[1];
      const entered = all.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length;
      if (file === undefined || entered === 0) continue;
      files.add(file);
      functions += entered;
    }
    return { files, functions };
  };
  return { take, stop: () => session.disconnect() };
};

const om = '/operations-manager';

/** The package of the demo, each time with other names. */
const packageOf = (n: number) => {
  const bundles = vlanRollout.bundles.map(({ type, data }) => {
    const { name } = data as { readonly name?: string };
    return { type, data: name === undefined ? data : { ...data, name: `${name} ${n}` } };
  });
  return { prebuilt: { ...vlanRollout, metadata: { ...vlanRollout.metadata, name: `package-${n}` }, bundles } };
};

/** The requests, prepared on a service. */
const flowsOn = async ({ ask }: TestService): Promise<readonly Flow[]> => {
  const mapping = '/group-mappings/ldap/noc';
  const { automation, template } = builtInOf(ask);
  await template('Greeting', 'Hello {{ name }}');
  const actionId = await automation('template', 'Greeting');
  const trigger = { name: 'Greet', type: 'eventSystem', actionType: 'automations', enabled: true, actionId };
  const about = { source: 'itsm', topic: 'met', schema: null, jst: null, legacyWrapper: false };
  ok(await ask('POST', `${om}/triggers`, { ...trigger, ...about }));
  const change = async (n: number) =>
    ok(await ask('PATCH', mapping, { updates: { platformGroups: [`group-${n}`, 'operators'] } }));
  return [
    { name: 'PATCH of a group mapping', goal: 45, request: change },
    { name: 'fresh list', goal: 25, request: async (n) => ok(await ask('GET', `/group-mappings?limit=${n + 10}`)) },
    {
      name: 'event to its finished job',
      goal: 90,
      request: async () => ok(await ask('POST', `${om}/events/itsm/met`, { name: 'Bonn' })),
    },
    {
      name: 'package of 11 documents',
      goal: 120,
      request: async (n) => ok(await ask('POST', '/prebuilts/import', packageOf(n))),
    },
  ];
};

/** Prints the figures; with `names`, the files too. */
export const countFlows = async (names: boolean): Promise<void> => {
  const service = await startService();
  const flows = await flowsOn(service);
  const { take, stop } = await counter();
  for (const { name, goal, request } of flows) {
    let least: Entered | undefined;
    for (let n = 0; n < warmUps + counted; n++) {
      await pause(restMs);
      await take();
      await request(n);
      await pause(restMs);
      const entered = await take();
      if (n >= warmUps && !(least && least.files.size <= entered.files.size)) least = entered;
    }
    console.log(`${name}: ${least?.files.size} files (goal: ${goal}), ${least?.functions} functions`);
    if (names) for (const file of [...(least?.files ?? [])].sort()) console.log(`  ${file}`);
  }
  const { data } = ok(await service.ask('GET', `${om}/jobs?limit=1000`));
  const ended = data.filter(({ status }: { status: string }) => status === 'complete').length;
  if (ended !== warmUps + counted) throw new Error(`${ended} jobs are complete, not ${warmUps + counted}`);
  stop();
  await service.stop();
};
