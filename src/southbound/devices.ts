import { withinTime } from '@automation-platform/client';
import { isWellFormed } from '@automation-platform/json';
import type { HttpProperties, SshProperties } from '../domain/configuration-manager/adapterSchemas.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import { openSecrets } from '../domain/engine/secretFields.ts';
import { adapterFailure, reasonOf } from './failure.ts';
import { httpAdapter } from './http.ts';
import { labAdapter } from './lab.ts';
import type { Outbound } from './outbound.ts';
import type { Device, DeviceAdapter, DeviceCalls, Devices } from './port.ts';
import { Busy, semaphore } from './semaphore.ts';
import { sshAdapter } from './ssh.ts';
import type { SshTarget } from './sshConnection.ts';
import { sshSessions } from './sshSessions.ts';

/**
 * An adapter as it is stored. The secrets in its properties are sealed. `created` is its time of creation (ISO 8601).
 */
type StoredAdapter = {
  readonly name: string;
  readonly type: 'lab' | 'http' | 'ssh';
  readonly properties: Readonly<Record<string, unknown>>;
  readonly devices: readonly Device[];
  readonly created: string;
};

/** A call of a device. `alone`: it waits until no other such call uses the device. `ending` ends it. */
type Call = {
  readonly adapter: StoredAdapter;
  readonly device: Device;
  readonly alone: boolean;
  readonly ending: AbortSignal;
};

type Needs = {
  /** The adapters that know the device. Without a name, all adapters. */
  readonly adapters: (device?: string) => Promise<readonly StoredAdapter[]>;
  /** Names of adapters in the order in which they are searched for a device. Other adapters follow, sorted by name. */
  readonly order: () => readonly string[];
  readonly unseal: (sealed: Sealed) => string;
  readonly guard: Outbound;
  /** Where simulated devices keep their configurations. */
  readonly labFolder: string;
};

const defaultTimeout = 30_000;
const perAdapter = 16;
const inLine = 256;

/**
 * Finds and calls devices through their stored adapters. Each call opens its adapter as it is stored at that moment.
 * Calls are limited in time and number.
 */
export const devicesOf = ({ adapters, order, unseal, guard, labFolder }: Needs): Devices => {
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const places = semaphore(perAdapter, inLine);
  const oneAtATime = semaphore(1, inLine);
  const sessions = sshSessions();

  const open = async (
    { name, type, properties, created }: StoredAdapter,
    traceparent: string | undefined,
  ): Promise<DeviceAdapter> => {
    if (type === 'lab') return labAdapter({ name, made: created, folder: labFolder });
    const opened = openSecrets(properties, unseal);
    if (type === 'http') return httpAdapter(name, opened as HttpProperties, guard, traceparent);
    const ssh = opened as SshProperties;
    const jump = ssh.jumpHost === undefined ? undefined : await jumpHost(name, ssh.jumpHost);
    return sshAdapter(name, ssh, guard, { sessions, jump });
  };

  /** The device by which an adapter reaches its own, with its own credentials. It is reached directly. */
  const jumpHost = async (adapter: string, name: string): Promise<SshTarget> => {
    const fails = (why: string) => adapterFailure(adapter, `the jump host ${JSON.stringify(name)} ${why}`);
    const found = await lookUp(name).catch((error: unknown) => {
      throw error instanceof RequestError && error.code === 'not_found' ? fails('is not known') : error;
    });
    if (found.adapter.type !== 'ssh') throw fails('is no device of an adapter of the type ssh');
    const properties = openSecrets(found.adapter.properties, unseal) as SshProperties;
    if (properties.jumpHost !== undefined) throw fails('has a jump host itself: there may be one');
    return { device: found.device, properties };
  };

  const ordered = (some: readonly StoredAdapter[]): readonly StoredAdapter[] => {
    const first = order();
    const rank = ({ name }: StoredAdapter) => (first.includes(name) ? first.indexOf(name) : first.length);
    return some.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  };

  const lookUp = async (name: string): Promise<{ readonly adapter: StoredAdapter; readonly device: Device }> => {
    for (const adapter of ordered(await adapters(name))) {
      const device = adapter.devices.find((one) => one.name === name);
      if (device) return { adapter, device };
    }
    throw new RequestError('not_found', `No adapter knows the device ${JSON.stringify(name)}`, { path: 'device' });
  };

  /**
   * Makes one call, which ends when the adapter's time is over.
   */
  const calling = <T>(
    { adapter, device, alone, ending }: Call,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const timeout = typeof adapter.properties.timeout === 'number' ? adapter.properties.timeout : defaultTimeout;
    const deviceKey = JSON.stringify([adapter.name, device.name]);
    const call = withinTime(timeout, [stopping.signal, ending], async (signal) => {
      const placed = () => places(adapter.name, signal, () => work(signal));
      try {
        return await (alone ? oneAtATime(deviceKey, signal, placed) : placed());
      } catch (error) {
        if (error instanceof Busy) throw adapterFailure(adapter.name, 'too many calls at once');
        if (error instanceof RequestError || !signal.aborted) throw error;
        throw adapterFailure(adapter.name, reasonOf(signal.reason));
      }
    });
    underWay.add(call);
    const done = (): void => {
      underWay.delete(call);
    };
    call.then(done, done);
    return call;
  };

  const calls = (traceparent: string | undefined, ending: AbortSignal = stopping.signal): DeviceCalls => {
    const reading = async (
      name: string,
      work: (adapter: DeviceAdapter, device: Device, signal: AbortSignal) => Promise<string>,
    ): Promise<string> => {
      const { adapter, device } = await lookUp(name);
      const call = { adapter, device, alone: false, ending };
      const text = await calling(call, async (signal) => work(await open(adapter, traceparent), device, signal));
      // It may become a part of an event.
      if (!isWellFormed(text)) throw adapterFailure(adapter.name, 'the answer has a lone surrogate');
      return text;
    };
    return {
      apply: async (name, device, config, options) => {
        const adapter = (await adapters(device.name)).find((one) => one.name === name);
        if (!adapter) throw adapterFailure(name, 'it is not there any more');
        const apply = async (signal: AbortSignal) =>
          (await open(adapter, traceparent)).apply(device, config, options, signal);
        return calling({ adapter, device, alone: true, ending }, apply);
      },
      configuration: (name) => reading(name, (adapter, device, signal) => adapter.configuration(device, signal)),
      run: (name, command) => reading(name, (adapter, device, signal) => adapter.run(device, command, signal)),
    };
  };

  return {
    find: async (name) => {
      const { adapter, device } = await lookUp(name);
      return { adapter: adapter.name, device };
    },
    list: async () => {
      const known = new Map<string, Device & { readonly adapter: string }>();
      for (const { name: adapter, devices } of ordered(await adapters()))
        for (const device of devices) if (!known.has(device.name)) known.set(device.name, { ...device, adapter });
      return [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    calls,
    close: async () => {
      stopping.abort(new DOMException('The service is shutting down', 'AbortError'));
      await Promise.allSettled(underWay);
      sessions.close();
    },
  };
};
