import type { Outcome } from '../domain/agent-session-manager/agentSessionSchemas.ts';
import type { Sealed } from '../domain/engine/sealed.ts';

/** A device as its adapter lists it. */
export type Device = {
  readonly name: string;
  readonly host?: string;
  readonly port?: number;
  readonly ostype?: string;
};

/**
 * What the southbound system answered: its status (of HTTP, or the nearest to it) and its body as JSON text: unchanged
 * where it was JSON, else as a JSON string.
 */
export type AdapterAnswer = { readonly status: number; readonly text: string };

/**
 * The way to some devices. Every adapter passes the same contract suite. Throws `Refusal('adapter_failed')` when the
 * system refuses the connection, does not answer in time or breaks off; texts of configurations and secrets are in no
 * error. `signal` ends the call. Connections last as long as their call: there is nothing to close.
 */
export type DeviceAdapter = {
  /** Applies a configuration text. An answer that is no success is an answer, not an error. */
  apply(
    device: Device,
    config: string,
    options: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<AdapterAnswer>;
  /** The running configuration. */
  configuration(device: Device, signal: AbortSignal): Promise<string>;
  /** What the device prints for a command. */
  run(device: Device, command: string, signal: AbortSignal): Promise<string>;
};

/** Calls of devices. */
export type DeviceCalls = {
  apply(
    adapter: string,
    device: Device,
    config: string,
    options: Readonly<Record<string, unknown>>,
  ): Promise<AdapterAnswer>;
  configuration(device: string): Promise<string>;
  /** What the device prints for a command; `adapter_failed` with `metadata.adapter` when it cannot be had. */
  run(device: string, command: string): Promise<string>;
};

/** The devices of all adapters, by name: the first adapter of the active profile's strategy that knows it is taken. */
export type Devices = {
  /** Which adapter and device a name means; `not_found` when no adapter knows it. */
  find(device: string): Promise<{ readonly adapter: string; readonly device: Device }>;
  /** All devices with their adapters, by name. */
  list(): Promise<readonly (Device & { readonly adapter: string })[]>;
  /** Calls for a request with that traceparent, which adapters that can send it do. */
  calls(traceparent: string | undefined): DeviceCalls;
  /** Ends all calls under way, and waits until they have. */
  close(): Promise<void>;
};

/** Whose turn a render takes, and until when anybody waits for it. */
export type Rendering = { readonly account: string; readonly signal: AbortSignal };

/**
 * The template engine: Jinja2. Runs outside the event loop, bounded in time, memory, steps and output. A template that
 * does not parse or render: `Refusal('unprocessable')` whose fault has `line` and the reason. Variables may have the
 * marks of domain/engine/exactJson.ts. Too many that wait: `Refusal('limited')`. Throws the signal's reason when that
 * ends it.
 */
export type Renderer = {
  render(template: string, variables: Readonly<Record<string, unknown>>, rendering: Rendering): Promise<string>;
  close(): Promise<void>;
};

/** What an agent is asked: where it is, with sealed headers, and what for; secrets in inputs are sealed. */
type AgentCall = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, Sealed>>;
  readonly sessionId: string;
  /** Its name. */
  readonly agent: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Of the request that started the session. */
  readonly traceparent?: string | undefined;
};

/** What it says; without a status it goes on, and reports later. */
export type AgentAnswer = { readonly status?: Outcome; readonly lastMessage?: string };

/**
 * Calls an agent once. Whatever becomes of the call is an answer: FAILED with the reason, which holds no secrets, when
 * there was none or none that can be understood. Throws the signal's reason when that ends the call.
 */
export type Webhook = (call: AgentCall, signal: AbortSignal) => Promise<AgentAnswer>;
