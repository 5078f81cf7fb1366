import type {
  Comparison,
  DiffPart,
  DiffUnit,
  Grading,
  Parser,
  SpecLine,
  StoredDifference,
} from '@automation-platform/configurations';
import type { DeviceAnswer, HostKey, Predicted } from '@automation-platform/devices';
import type { Members } from '@automation-platform/json';
import type { Outcome } from '../domain/agent-session-manager/agentSessionSchemas.ts';
import type { OidcProperties } from '../domain/authorization/oidcSchemas.ts';
import type { AdapterType } from '../domain/configuration-manager/adapterSchemas.ts';
import type { Device, DevicePage, DevicesAsked, KnownSource } from '../domain/configuration-manager/deviceSources.ts';
import type { Actor } from '../domain/engine/core.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import type { Evaluation, Transform } from '../domain/engine/transforming.ts';
import type { Answers } from '../domain/operations-manager/workflows/simulate.ts';
import type { JobSelf } from '../domain/operations-manager/workflows/taskValues.ts';
import type { WorkflowDocument } from '../domain/operations-manager/workflows/workflows.ts';

export type { Device } from '../domain/configuration-manager/deviceSources.ts';

/** A device, and the source by which it is reached: an adapter or an inventory. */
export type FoundDevice = {
  readonly source: KnownSource;
  readonly type: AdapterType;
  readonly device: Device;
  /** True if its source says that changes keep copies, false if it says that they do not. */
  readonly backups?: boolean;
  readonly abilities: Abilities;
};

/**
 * The abilities of a device: its configuration can be read, is taken for a time to be confirmed, is replaced as a whole, or is
 * tried out without leaving anything; its lines can be undone one by one.
 */
type Abilities = {
  readonly read: boolean;
  readonly confirm: boolean;
  readonly replace: boolean;
  readonly tryOut: boolean;
  readonly undo: boolean;
};

/**
 * The answer of the southbound system: its status (of HTTP, or the nearest to it), and its body as JSON text. A JSON
 * body stays unchanged. Any other body becomes a JSON string. `unverified`: nobody knows whether the device took all of
 * a configuration.
 */
export type AdapterAnswer = DeviceAnswer;

/**
 * The way to some devices. Every adapter passes the same contract suite. Throws `RequestError('adapter_failed')` when
 * the system refuses the connection, does not answer in time or breaks off. No error contains configurations or
 * secrets. `signal` ends the call. A connection lasts as long as its call, so there is nothing to close.
 */
export type DeviceAdapter = {
  /** Applies a configuration text. A refusal by the device is returned as an answer and is no error. */
  apply(
    device: Device,
    config: string,
    options: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<AdapterAnswer>;
  /** Says what a configuration would change, without leaving anything. Undefined where the device cannot say so itself. */
  dryRun?(
    device: Device,
    config: string,
    options: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<AdapterAnswer | undefined>;
  /** Confirms the change that `options.change` names. */
  confirm?(device: Device, options: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<AdapterAnswer>;
  /** Returns the running configuration. */
  configuration(device: Device, signal: AbortSignal): Promise<string>;
  /** Returns the output of a command. */
  run(device: Device, command: string, signal: AbortSignal): Promise<string>;
  /** Makes sure that the device answers. */
  reach(device: Device, signal: AbortSignal): Promise<void>;
  /** Returns the host key that the device shows, and logs in nowhere. Only devices over SSH have one. */
  hostKey?(device: Device, signal: AbortSignal): Promise<HostKey>;
};

/** Calls of one device, one after the other. */
export type DeviceAtWork = {
  configuration(): Promise<string>;
  apply(config: string, options: Readonly<Record<string, unknown>>): Promise<AdapterAnswer>;
};

/** Calls of devices by their names. */
export type DeviceCalls = {
  /** Calls a device several times through its source, as that is stored at the beginning. One session serves all calls. */
  changing<T>(found: Pick<FoundDevice, 'source' | 'device'>, work: (device: DeviceAtWork) => Promise<T>): Promise<T>;
  /** Undefined where the device cannot say itself what a configuration would change. */
  dryRun(
    found: Pick<FoundDevice, 'source' | 'device'>,
    config: string,
    options: Readonly<Record<string, unknown>>,
  ): Promise<AdapterAnswer | undefined>;
  confirm(
    found: Pick<FoundDevice, 'source' | 'device'>,
    options: Readonly<Record<string, unknown>>,
  ): Promise<AdapterAnswer>;
  configuration(device: string): Promise<string>;
  /** Returns the output of a command. Throws `adapter_failed` with `metadata.adapter` when there is no output. */
  run(device: string, command: string): Promise<string>;
  /** Makes sure that the device answers. */
  reach(device: string): Promise<void>;
  /**
   * Returns the host key that the device shows, and logs in nowhere. Throws `unprocessable` for a device that is not reached
   * over SSH.
   */
  hostKey(device: string): Promise<HostKey>;
};

/** The devices of all adapters and inventories that a caller sees. */
type SeenDevices = {
  /** Returns the device of a name. Throws `not_found` where no source that is seen knows the name. */
  find(device: string): Promise<FoundDevice>;
  /** The ids of the inventories that these devices are of, each once. Devices of adapters, and those that are not seen, have none. */
  inventoriesOf(names: readonly string[]): Promise<string[]>;
  /** Throws `conflict` if the actor does not see a credential that the device is reached with. */
  checkCredentials(device: string): Promise<void>;
  /** Returns a page of devices, sorted by name. */
  list(request: DevicesAsked): Promise<DevicePage>;
  /**
   * Returns the calls for a request with this traceparent. Adapters pass it on where they can. The signal ends the
   * calls.
   */
  calls(traceparent: string | undefined, signal?: AbortSignal): DeviceCalls;
};

/**
 * The devices of all adapters and inventories, by name. The active profile orders them. If several know a device, the
 * first that the actor sees is used.
 */
export type Devices = {
  seenBy(actor: Actor): SeenDevices;
  /** The names of sources in the order in which they are searched for a device. */
  order(): readonly string[];
  /** Aborts when the calls of devices end because the service does. */
  readonly stopping: AbortSignal;
  /** Ends all calls under way, and waits for their end. */
  close(): Promise<void>;
};

/** The account that renders, and the templates that the template may use. */
export type Rendering = {
  /** The account that renders. */
  readonly account: string;
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  /** The name of the template, if it is a stored one. */
  readonly name?: string;
  /** The text of the stored template of this name; undefined if there is none that the account may read. */
  readonly find: (name: string) => Promise<string | undefined>;
};

/** The type of devices by which texts are read, and its parser, if it has no form of its own. */
type TypeOfTexts = { readonly deviceType: string; readonly parser?: Parser };

/** A configuration, and the golden texts that it is to be compared with: Jinja2, of the nodes from the root down. */
export type ComparisonRun = TypeOfTexts & {
  readonly texts: readonly string[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly configuration: string;
  /** Values that are masked wherever they stand. */
  readonly secrets: readonly string[];
  readonly grading?: Grading;
};

/** A workflow to run without a job. */
export type SimulationRun = {
  readonly workflow: WorkflowDocument;
  readonly self: JobSelf;
  /** Epoch milliseconds. */
  readonly now: number;
  /** With sealed secrets. */
  readonly variables: Members;
  readonly answers: Answers;
  /** The documents of transformations by the names that it gives them; null: there is none. */
  readonly transformations: Members;
};

/** A golden text to read: Jinja2. */
export type SpecificationRun = TypeOfTexts & {
  readonly template: string;
  readonly variables: Readonly<Record<string, unknown>>;
};

/** A configuration of a device, to make a golden text from. */
export type GenerationRun = TypeOfTexts & { readonly nativeConfig: string };

/** A golden text that the configuration fits, and its lines. `line`: that of the configuration. */
export type Generated =
  | { readonly template: string; readonly lines: readonly SpecLine[] }
  | { readonly reason: string; readonly line: number };

/** Golden texts, of the nodes from the root down, to write as a configuration. */
export type TranslationRun = Pick<ComparisonRun, 'texts' | 'variables' | 'deviceType' | 'parser'>;

/** The lines that golden texts require, as a device writes them. `text` is the place of the text that has the line. */
export type Translated =
  | { readonly config: string }
  | { readonly reason: string; readonly line: number; readonly text: number };

/** The lines of a golden text, or why it has none: it is no Jinja2, does not render with these variables, or has no such lines. */
export type Specified =
  | { readonly lines: readonly SpecLine[] }
  | { readonly reason: string; readonly line: number; readonly when: 'parsing' | 'rendering' | 'reading' };

/** Two texts to compare. */
export type DiffRun = { readonly first: string; readonly second: string; readonly unit: DiffUnit };

/** A configuration of a device, and the one before it. `shows`: the lines that differ are wanted, too. */
export type FollowingTextRun = {
  readonly before: string;
  readonly after: string;
  readonly ostype: string;
  readonly shows?: boolean;
};

/** A configuration that a device shows, and one that is to be sent to it. `replaces`: this one takes the place of that one. */
export type PredictionRun = {
  readonly running: string;
  readonly config: string;
  readonly ostype: string;
  readonly replaces: boolean;
};

/** A configuration that a device shows, and the one that it is to have. */
export type WayRun = { readonly running: string; readonly goal: string; readonly ostype: string };

/**
 * How a configuration follows from the one before. `isChange`: more differs than lines that always change. `diff`: the lines that
 * differ, as `diff -u` shows them, with masked secrets.
 */
export type FollowingText = {
  readonly difference: StoredDifference;
  readonly isChange: boolean;
  readonly diff?: string;
};

/** A comparison, or why there is none: the line of the text with that index; of the configuration if it is null. */
export type Compared = Comparison | { readonly reason: string; readonly line: number; readonly text: number | null };

/**
 * The engine of templates, Jinja2, of expressions, JSONata, of transformation documents, and of comparisons. It runs
 * outside the event loop, limited in time, memory, steps and output. Variables may have marks (exactValue). Throws `RequestError('unprocessable')` for a template that does not
 * parse or render: its fault has `line`, the reason, and `template` if the line is that of another template.
 * Throws `RequestError('limited')` when too many wait, the signal's reason when the signal ends the render, and what
 * `find` throws.
 */
export type Renderer = {
  render(template: string, variables: Readonly<Record<string, unknown>>, rendering: Rendering): Promise<string>;
  /**
   * The result of an expression: JSON of 512 KiB at most. Throws `unprocessable` with the reason for an expression that
   * does not parse or fails, and otherwise as `render` does.
   */
  evaluate(expression: string, input: unknown, evaluation: Evaluation): Promise<unknown>;
  transform: Transform;
  /**
   * Renders golden texts and compares configurations with them, each with its own: all as one work. Throws as `evaluate`
   * does.
   */
  compare(runs: readonly ComparisonRun[], evaluation: Evaluation): Promise<readonly Compared[]>;
  /**
   * The end of a workflow without a job, its tasks and events: JSON text. `{needs: <name>}` if it names a transformation that
   * was not given. Throws as `evaluate` does.
   */
  simulate(run: SimulationRun, evaluation: Evaluation): Promise<string>;
  /** Renders and reads a golden text. Throws as `evaluate` does. */
  specify(run: SpecificationRun, evaluation: Evaluation): Promise<Specified>;
  /** Makes a golden text from a configuration. Throws as `evaluate` does. */
  generate(run: GenerationRun, evaluation: Evaluation): Promise<Generated>;
  /** Writes what golden texts require. Throws as `evaluate` does. */
  translate(run: TranslationRun, evaluation: Evaluation): Promise<Translated>;
  /** The parts of two texts that are equal and that differ, with masked secrets. Throws as `evaluate` does. */
  diff(run: DiffRun, evaluation: Evaluation): Promise<readonly DiffPart[]>;
  /** Says how a configuration follows from the one before. Throws as `evaluate` does. */
  follow(run: FollowingTextRun, evaluation: Evaluation): Promise<FollowingText>;
  /** The lines that lead a device to a configuration; null for types that undo lines in other words. Throws as `evaluate` does. */
  linesTo(run: WayRun, evaluation: Evaluation): Promise<readonly string[] | null>;
  /** Predicts what a configuration changes. Throws as `evaluate` does. */
  predict(run: PredictionRun, evaluation: Evaluation): Promise<Predicted>;
  close(): Promise<void>;
};

/** A call of an agent. The headers, and the secrets in the inputs, are sealed. */
type AgentCall = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, Sealed>>;
  readonly sessionId: string;
  /** The agent's name. */
  readonly agent: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The traceparent of the request that started the session. */
  readonly traceparent?: string | undefined;
};

/** The agent's answer. Without a status, the agent goes on working and reports later. */
export type AgentAnswer = { readonly status?: Outcome; readonly lastMessage?: string };

/**
 * Calls an agent once. If the call fails, or the answer cannot be understood, the result is FAILED with the reason. The
 * reason contains no secrets. Throws the signal's reason when the signal ends the call.
 */
export type Webhook = (call: AgentCall, signal: AbortSignal) => Promise<AgentAnswer>;

/** A person as a directory knows them. */
export type Person = {
  readonly dn: string;
  /** Stays the same when the person gets another name. */
  readonly externalId: string;
  readonly username: string;
  readonly firstname: string;
  readonly email: string;
  readonly memberOf: readonly string[];
};

/**
 * A person to look for. Without a password only their groups are asked for. With `externalId` it is this person and no
 * other, who may have another name by now.
 */
export type Asked = {
  readonly username: string;
  readonly password?: string | undefined;
  readonly externalId?: string | undefined;
};

/** Undefined: nobody, or several, have the name. `authenticated` is null if there was no password. */
export type DirectoryAnswer =
  | {
      readonly person: Person;
      readonly authenticated: boolean | null;
      readonly externalGroups: readonly string[];
    }
  | undefined;

/** Asks a directory. Throws if none of its servers answers within its time and within bounds. */
export type Directory = (
  provider: { readonly name: string; readonly properties: object },
  person: Asked,
) => Promise<DirectoryAnswer>;

/** The secrets of one login of a browser: they stand between its begin and its callback. */
export type LoginAtIssuer = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** The claims of a token whose signature, issuer, audience and times hold. */
export type Claims = Readonly<Record<string, unknown>>;

type IssuingProvider = { readonly name: string; readonly properties: OidcProperties };

/**
 * Asks issuers of OpenID Connect. Secrets in the properties are sealed. Throws `IssuerSilent` if the issuer gives no
 * answer within its time and bounds, and `TokenRefused` if a code or token does not hold.
 */
export type OpenId = {
  /** Asks for the issuer's description and keys. */
  probe(provider: IssuingProvider): Promise<void>;
  /** The address at the issuer where a browser logs in. */
  loginUrl(provider: IssuingProvider, login: LoginAtIssuer): Promise<string>;
  /** The claims of the person whom the issuer names in the query of the callback. */
  redeem(provider: IssuingProvider, login: LoginAtIssuer, querystring: string): Promise<Claims>;
  /** The claims of a token. */
  verify(provider: IssuingProvider, token: string, audience: string): Promise<Claims>;
};
