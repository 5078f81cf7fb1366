import { withinTime } from '@automation-platform/client';
import { isWellFormed } from '@automation-platform/json';
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
} from '../domain/configuration-manager/deviceSources.ts';
import type { Actor } from '../domain/engine/core.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import { openSecrets } from '../domain/engine/secretFields.ts';
import { adapterFailure, reasonOf } from './failure.ts';
import { httpAdapter } from './http.ts';
import { labAdapter } from './lab.ts';
import type { Outbound } from './outbound.ts';
import type { DeviceAdapter, DeviceCalls, Devices } from './port.ts';
import { Busy, semaphore } from './semaphore.ts';
import { sshAdapter } from './ssh.ts';
import type { SshTarget } from './sshConnection.ts';
import { sshSessions } from './sshSessions.ts';

/** A call of a device. `alone`: it waits until no other such call uses the device. `ending` ends it. */
type Call = {
  readonly known: KnownDevice;
  readonly actor: Actor;
  readonly traceparent: string | undefined;
  readonly alone: boolean;
  readonly ending: AbortSignal;
};

/** Work with a device, through the adapter that speaks to it. */
type Work<T> = (adapter: DeviceAdapter, device: Device, signal: AbortSignal) => Promise<T>;

type Needs = {
  readonly sources: {
    /** The sources that know a device, among those that the actor sees. */
    find(device: string, actor: Actor): Promise<readonly KnownDevice[]>;
    list(asked: DevicesAsked, actor: Actor, order: readonly string[]): Promise<DevicePage>;
  };
  /** Names of sources in the order in which they are searched for a device. */
  readonly order: () => readonly string[];
  readonly unseal: (sealed: Sealed) => string;
  readonly guard: Outbound;
  /** Where simulated devices keep their configurations. */
  readonly labFolder: string;
};

const defaultTimeout = 30_000;
const perSource = 16;
const inLine = 256;

const keyOf = ({ kind, name }: DeviceSource): string => JSON.stringify([kind, name]);

/**
 * Finds and calls devices through their sources. Each call opens its source as it is stored at that moment. Calls are
 * limited in time and number.
 */
export const devicesOf = ({ sources, order, unseal, guard, labFolder }: Needs): Devices => {
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const places = semaphore(perSource, inLine);
  const oneAtATime = semaphore(1, inLine);
  const sessions = sshSessions();

  const lookUp = async (name: string, actor: Actor): Promise<KnownDevice> => {
    const compare = bySource(order());
    const [first] = (await sources.find(name, actor)).toSorted((a, b) => compare(a.source, b.source));
    if (first) return first;
    throw new RequestError('not_found', `No device is called ${JSON.stringify(name)}`, { path: 'device' });
  };

  /** How a device is reached, with open secrets. Nodes of inventories may lack what is needed. */
  const propertiesOf = ({ type, properties }: KnownDevice, failure: (reason: string) => RequestError): unknown => {
    const missing = missingProperty(type, properties);
    if (missing !== undefined) throw failure(`has no ${missing}`);
    return openSecrets(properties, unseal);
  };

  const open = async ({ known, actor, traceparent }: Call): Promise<DeviceAdapter> => {
    const { type, created, source } = known;
    const { name } = source;
    if (type === 'lab') return labAdapter({ name, made: created, folder: labFolder });
    const opened = propertiesOf(known, (reason) => adapterFailure(name, `the device ${reason}`));
    if (type === 'http') return httpAdapter(name, opened as HttpProperties, guard, traceparent);
    const ssh = opened as SshProperties;
    const jump = ssh.jumpHost === undefined ? undefined : await jumpHost(name, ssh.jumpHost, actor);
    return sshAdapter(name, ssh, guard, { sessions, jump });
  };

  /** The device by which a source reaches its own, with its own credentials. It is reached directly. */
  const jumpHost = async (source: string, name: string, actor: Actor): Promise<SshTarget> => {
    const fails = (why: string) => adapterFailure(source, `the jump host ${JSON.stringify(name)} ${why}`);
    const found = await lookUp(name, actor).catch((error: unknown) => {
      throw error instanceof RequestError && error.code === 'not_found' ? fails('is not known') : error;
    });
    if (found.type !== 'ssh') throw fails('is not reached over SSH');
    const properties = propertiesOf(found, fails) as SshProperties;
    if (properties.jumpHost !== undefined) throw fails('has a jump host itself: there may be one');
    return { device: found.device, properties };
  };

  /** Makes one call, which ends when the source's time is over. */
  const calling = <T>(call: Call, work: Work<T>): Promise<T> => {
    const { properties, device, source } = call.known;
    const timeout = typeof properties.timeout === 'number' ? properties.timeout : defaultTimeout;
    const deviceKey = JSON.stringify([keyOf(source), device.name]);
    const made = withinTime(timeout, [stopping.signal, call.ending], async (signal) => {
      const placed = () => places(keyOf(source), signal, async () => work(await open(call), device, signal));
      try {
        return await (call.alone ? oneAtATime(deviceKey, signal, placed) : placed());
      } catch (error) {
        if (error instanceof Busy) throw adapterFailure(source.name, 'too many calls at once');
        if (error instanceof RequestError || !signal.aborted) throw error;
        throw adapterFailure(source.name, reasonOf(signal.reason));
      }
    });
    underWay.add(made);
    const done = (): void => {
      underWay.delete(made);
    };
    made.then(done, done);
    return made;
  };

  const callsOf = (actor: Actor, traceparent: string | undefined, ending: AbortSignal): DeviceCalls => {
    const reading = async (name: string, work: Work<string>): Promise<string> => {
      const known = await lookUp(name, actor);
      const text = await calling({ known, actor, traceparent, alone: false, ending }, work);
      // It may become a part of an event.
      if (!isWellFormed(text)) throw adapterFailure(known.source.name, 'the answer has a lone surrogate');
      return text;
    };
    return {
      apply: async ({ source, device }, config, options) => {
        const all = await sources.find(device.name, actor);
        const known = all.find((one) => keyOf(one.source) === keyOf(source));
        if (!known) throw adapterFailure(source.name, 'it is not there any more');
        return calling({ known, actor, traceparent, alone: true, ending }, (adapter, _, signal) =>
          adapter.apply(device, config, options, signal),
        );
      },
      configuration: (name) => reading(name, (adapter, device, signal) => adapter.configuration(device, signal)),
      run: (name, command) => reading(name, (adapter, device, signal) => adapter.run(device, command, signal)),
    };
  };

  return {
    seenBy: (actor) => ({
      find: async (name) => {
        const { source, type, device } = await lookUp(name, actor);
        return { source, type, device };
      },
      list: (asked) => sources.list(asked, actor, order()),
      calls: (traceparent, ending = stopping.signal) => callsOf(actor, traceparent, ending),
    }),
    close: async () => {
      stopping.abort(new DOMException('The service is shutting down', 'AbortError'));
      await Promise.allSettled(underWay);
      sessions.close();
    },
  };
};
