import { setMaxListeners } from 'node:events';
import { withinTime } from '@automation-platform/client';
import { Busy, semaphore } from '@automation-platform/concurrency';
import {
  type HostKey,
  type KeptSessions,
  labDevices,
  labFormOf,
  sessionsOfWork,
  sshSessions,
  typeOf,
} from '@automation-platform/devices';
import { isWellFormed, type Members } from '@automation-platform/json';
import {
  type HttpProperties,
  missingProperty,
  type SshProperties,
} from '../domain/configuration-manager/adapterSchemas.ts';
import {
  bySource,
  type Device,
  type DevicePage,
  type DeviceSource,
  type DevicesAsked,
  type KnownDevice,
  type KnownSource,
} from '../domain/configuration-manager/deviceSources.ts';
import type { Actor } from '../domain/engine/core.ts';
import { defined } from '../domain/engine/defined.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import { openSecrets } from '../domain/engine/secretFields.ts';
import { withCredentials } from './deviceCredentials.ts';
import { adapterFailure, reasonOf } from './failure.ts';
import { httpAdapter } from './http.ts';
import type { Outbound } from './outbound.ts';
import type { AdapterAnswer, DeviceAdapter, DeviceAtWork, DeviceCalls, Devices, FoundDevice } from './port.ts';
import { sshAdapter } from './ssh.ts';

/** A device over SSH, and what its source says of it. */
type SshTarget = { readonly device: Device; readonly properties: SshProperties };

/** A call of a device. `ending` ends it. */
type Call = {
  readonly device: KnownDevice;
  readonly actor: Actor;
  readonly traceparent: string | undefined;
  readonly ending: AbortSignal;
  /** The host key is asked for: nobody logs in. */
  readonly asksKey?: boolean;
};

/** Work with a device, through the adapter that speaks to it. */
type Work<T> = (adapter: DeviceAdapter, device: Device, signal: AbortSignal) => Promise<T>;

type Needs = {
  readonly sources: {
    /** The sources that know a device, among those that the actor sees. */
    find(device: string, actor: Actor): Promise<readonly KnownDevice[]>;
    /** The sources of each of the devices that have any, among those that the actor sees. */
    sourcesOf(names: readonly string[], actor: Actor): Promise<ReadonlyMap<string, readonly KnownSource[]>>;
    list(request: DevicesAsked, actor: Actor, order: readonly string[]): Promise<DevicePage>;
    /** The credential of a name, with sealed secrets; undefined if nobody has it, or the actor does not see it. */
    credential(name: string, actor: Actor): Promise<Members | undefined>;
    /** The fingerprint that is pinned for a device; undefined if there is none. */
    pinned(device: KnownDevice): Promise<string | undefined>;
  };
  /** Names of sources in the order in which they are searched for a device. */
  readonly order: () => readonly string[];
  readonly unseal: (sealed: Sealed) => string;
  readonly guard: Outbound;
  /** Where simulated devices keep their configurations. */
  readonly labFolder: string;
};

const askKey: Work<HostKey> = async (adapter, device, signal) => {
  if (adapter.hostKey) return adapter.hostKey(device, signal);
  const message = 'The device is not reached over SSH, so it has no host key';
  throw new RequestError('unprocessable', message, { path: 'device' });
};

const confirmBy = (
  { confirm }: DeviceAdapter,
  { source, device }: Pick<FoundDevice, 'source' | 'device'>,
  options: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<AdapterAnswer> => {
  if (confirm) return confirm(device, options, signal);
  throw adapterFailure(source.name, 'its devices confirm nothing');
};

const defaultTimeout = 30_000;
const perSource = 16;
const inLine = 256;

/** A controller knows itself how it takes configurations. */
const abilitiesOf = (type: KnownDevice['type'], { ostype }: Device, { show }: Members): FoundDevice['abilities'] => {
  const { running, candidate, undoneBy } = typeOf(ostype);
  const undo = undoneBy !== undefined;
  if (type === 'http') return { read: true, confirm: true, replace: true, tryOut: false, undo };
  if (type === 'lab') {
    const read = labFormOf(ostype).show !== undefined;
    return { read, confirm: candidate?.confirmed !== undefined, replace: read, tryOut: read, undo };
  }
  return {
    read: show !== undefined || running !== undefined,
    confirm: candidate?.confirmed !== undefined,
    replace: candidate?.replace !== undefined,
    tryOut: candidate?.compare !== undefined,
    undo,
  };
};

const labAdapter = (name: string, createdAt: string, folder: string): DeviceAdapter =>
  labDevices({ name, createdAt, folder, failure: (reason) => adapterFailure(name, reason) });

/** Finds a device by the first of its sources that the actor sees. */
const firstSource =
  ({ find }: Needs['sources'], order: Needs['order']) =>
  async (name: string, actor: Actor): Promise<KnownDevice> => {
    const compare = bySource(order());
    const [first] = (await find(name, actor)).toSorted((a, b) => compare(a.source, b.source));
    if (first) return first;
    throw new RequestError('not_found', `No device is called ${JSON.stringify(name)}`, { path: 'device' });
  };

/** A work that is begun once, for all who ask. */
const once = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
};

/** Calls of one device. `step` makes one. */
const atWork = (knownDevice: KnownDevice, step: <T>(work: Work<T>) => Promise<T>): DeviceAtWork => ({
  configuration: async () =>
    wellFormed(await step((adapter, device, signal) => adapter.configuration(device, signal)), knownDevice),
  apply: (config, options) => step((adapter, device, signal) => adapter.apply(device, config, options, signal)),
});

/** A text that may become a part of an event. */
const wellFormed = (text: string, { source }: KnownDevice): string => {
  if (!isWellFormed(text)) throw adapterFailure(source.name, 'the answer has a lone surrogate');
  return text;
};

const keyOf = ({ kind, name }: DeviceSource): string => JSON.stringify([kind, name]);

/** The inventories among the first sources of some devices. */
const firstInventories = (all: ReadonlyMap<string, readonly KnownSource[]>, order: readonly string[]): string[] => {
  const firsts = [...all.values()].map((some) => some.toSorted(bySource(order))[0]);
  return [...new Set(firsts.flatMap((first) => (first?.kind === 'inventory' ? first.id : [])))];
};

/**
 * Finds and calls devices through their sources. Each call opens its source as it is stored at that moment. Calls are
 * limited in time and number.
 */
export const devicesOf = ({ sources, order, unseal, guard, labFolder }: Needs): Devices => {
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const places = semaphore(perSource, inLine);
  const sessions = sshSessions();
  const lookUp = firstSource(sources, order);

  const opened = (properties: Members): Members => openSecrets(properties, unseal) as Members;

  /** How a device is reached, with open secrets. Nodes of inventories may lack what is needed. */
  const propertiesOf = async (
    { type, properties }: KnownDevice,
    actor: Actor,
    failure: (reason: string) => RequestError,
  ): Promise<Members> => {
    const whole = await withCredentials(opened(properties), async (name) => {
      const credential = await sources.credential(name, actor);
      return credential && opened(credential);
    });
    const missing = missingProperty(type, whole);
    if (missing !== undefined) throw failure(`has no ${missing}`);
    return whole;
  };

  /** A device over SSH with the host key that it must show. */
  const targetOf = async (of: KnownDevice, properties: Members): Promise<SshTarget> => {
    const ssh = properties as SshProperties; // as the schemas of adapters and of attributes say
    const hostKey = ssh.hostKey ?? (await sources.pinned(of));
    return { device: of.device, properties: { ...ssh, ...defined({ hostKey }) } };
  };

  const open = async (
    { device, actor, traceparent, asksKey = false }: Call,
    reusable: KeptSessions = sessions,
  ): Promise<DeviceAdapter> => {
    const { type, created, source } = device;
    const { name } = source;
    if (type === 'lab') return labAdapter(name, created, labFolder);
    const failure = (reason: string) => adapterFailure(name, `the device ${reason}`);
    const whole = asksKey ? opened(device.properties) : await propertiesOf(device, actor, failure);
    if (type === 'http') return httpAdapter(name, whole as HttpProperties, guard, traceparent);
    const { properties } = await targetOf(device, whole);
    const jump = properties.jumpHost === undefined ? undefined : await jumpHost(name, properties.jumpHost, actor);
    return sshAdapter(name, properties, guard, { sessions: reusable, jump });
  };

  /** The device by which a source reaches its own, with its own credentials. It is reached directly. */
  const jumpHost = async (source: string, name: string, actor: Actor): Promise<SshTarget> => {
    const fails = (why: string) => adapterFailure(source, `the jump host ${JSON.stringify(name)} ${why}`);
    const found = await lookUp(name, actor).catch((error: unknown) => {
      throw error instanceof RequestError && error.code === 'not_found' ? fails('is not known') : error;
    });
    if (found.type !== 'ssh') throw fails('is not reached over SSH');
    const target = await targetOf(found, await propertiesOf(found, actor, fails));
    if (target.properties.jumpHost !== undefined) throw fails('has a jump host itself: there may be one');
    return target;
  };

  /** Makes one call, which ends when the source's time is over. */
  const calling = <T>(
    call: Call,
    work: Work<T>,
    adapterOf: (call: Call) => Promise<DeviceAdapter> = open,
  ): Promise<T> => {
    const { properties, device, source } = call.device;
    const timeout = typeof properties.timeout === 'number' ? properties.timeout : defaultTimeout;
    const running = withinTime(timeout, [stopping.signal, call.ending], async (signal) => {
      try {
        return await places(keyOf(source), signal, async () => work(await adapterOf(call), device, signal));
      } catch (error) {
        if (error instanceof Busy) throw adapterFailure(source.name, 'too many calls at once');
        if (error instanceof RequestError || !signal.aborted) throw error;
        throw adapterFailure(source.name, reasonOf(signal.reason));
      }
    });
    underWay.add(running);
    const end = (): void => {
      underWay.delete(running);
    };
    running.then(end, end);
    return running;
  };

  const callsOf = (actor: Actor, traceparent: string | undefined, ending: AbortSignal): DeviceCalls => {
    const asking = async <T>(name: string, work: Work<T>, asksKey = false): Promise<T> =>
      calling({ device: await lookUp(name, actor), actor, traceparent, ending, asksKey }, work);
    const reading = async (name: string, work: Work<string>): Promise<string> => {
      const device = await lookUp(name, actor);
      return wellFormed(await calling({ device, actor, traceparent, ending }, work), device);
    };
    /** A call of a device through the source by which it was found. */
    const callOf = async ({ source, device }: Parameters<DeviceCalls['changing']>[0]): Promise<Call> => {
      const all = await sources.find(device.name, actor);
      const knownDevice = all.find((one) => keyOf(one.source) === keyOf(source));
      if (!knownDevice) throw adapterFailure(source.name, 'it is not there any more');
      return { device: knownDevice, actor, traceparent, ending };
    };
    return {
      changing: async (of, work) => {
        const call = await callOf(of);
        const ownSessions = sessionsOfWork(sessions);
        const adapter = once(() => open(call, ownSessions));
        try {
          return await work(atWork(call.device, (one) => calling(call, one, adapter)));
        } finally {
          ownSessions.end();
        }
      },
      dryRun: async (of, config, options) =>
        calling(await callOf(of), async (adapter, _, signal) => adapter.dryRun?.(of.device, config, options, signal)),
      confirm: async (of, options) =>
        calling(await callOf(of), (adapter, _, signal) => confirmBy(adapter, of, options, signal)),
      configuration: (name) => reading(name, (adapter, device, signal) => adapter.configuration(device, signal)),
      run: (name, command) => reading(name, (adapter, device, signal) => adapter.run(device, command, signal)),
      reach: (name) => asking(name, (adapter, device, signal) => adapter.reach(device, signal)),
      hostKey: (name) => asking(name, askKey, true),
    };
  };

  return {
    order,
    seenBy: (actor) => ({
      find: async (name) => {
        const { source, type, device, properties, backups } = await lookUp(name, actor);
        return { source, type, device, abilities: abilitiesOf(type, device, properties), ...defined({ backups }) };
      },
      inventoriesOf: async (names) => firstInventories(await sources.sourcesOf(names, actor), order()),
      checkCredentials: async (name) => {
        const device = await lookUp(name, actor);
        const failure = (reason: string) => adapterFailure(device.source.name, `the device ${reason}`);
        const { jumpHost: jump } = await propertiesOf(device, actor, failure);
        if (typeof jump === 'string') await jumpHost(device.source.name, jump, actor);
      },
      list: (request) => sources.list(request, actor, order()),
      calls: (traceparent, ending = stopping.signal) => {
        // A job calls many devices at once, and each call listens.
        setMaxListeners(0, ending, stopping.signal);
        return callsOf(actor, traceparent, ending);
      },
    }),
    stopping: stopping.signal,
    close: async () => {
      stopping.abort(new DOMException('The service is shutting down', 'AbortError'));
      await Promise.allSettled(underWay);
      sessions.close();
    },
  };
};
