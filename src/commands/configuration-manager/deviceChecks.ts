import type { Grading, Parser } from '@automation-platform/configurations';
import {
  type Checked,
  type CheckedDevice,
  checkOf,
  type Outcome,
  reportOf,
  whyNotCompared,
} from '../../domain/configuration-manager/complianceReports.ts';
import type { KnownDevice, KnownSource } from '../../domain/configuration-manager/deviceSources.ts';
import type { TreeState } from '../../domain/configuration-manager/trees.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { type Code, RequestError } from '../../domain/engine/requestError.ts';
import { isSecretName, maskSecrets, openSecrets, sealSecrets } from '../../domain/engine/secretFields.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { inventories, type NodeDoc, nodes } from '../../projections/inventory-manager/inventories.ts';
import type { Tools } from '../engine/define.ts';
import { linesOf } from './deviceConfigurations.ts';

type Variables = Readonly<Record<string, unknown>>;

type Needs = {
  readonly tools: Pick<Tools, 'all' | 'unseal' | 'mayRead'>;
  readonly model: Pick<ReadModel, 'getMany'>;
  readonly devices: {
    readonly seenBy: (actor: Actor) => {
      /** Throws `not_found` for a device that the actor does not see. */
      readonly find: (device: string) => Promise<Pick<KnownDevice, 'source' | 'device'>>;
    };
  };
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
  readonly compare: (run: {
    readonly texts: readonly string[];
    readonly variables: Variables;
    readonly deviceType: string;
    readonly parser?: Parser;
    readonly configuration: string;
    readonly secrets: readonly string[];
    readonly grading?: Grading;
  }) => Promise<Outcome>;
};

/** Refusals that will be over soon: they say nothing of the device. */
const passing: readonly Code[] = ['limited', 'unavailable'];

/** The result of a work; of one that a text, a device or its adapter refuses, the reason. */
export const orReason = async <T>(work: () => Promise<T>): Promise<T | { readonly reason: string }> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RequestError && !passing.includes(error.code)) return { reason: error.message };
    throw error;
  }
};

/** Makes the function that compares one configuration, from one that compares several. */
export const compareAlone =
  <Run, Evaluation, Result>(
    compare: (runs: readonly Run[], evaluation: Evaluation) => Promise<readonly Result[]>,
    evaluation: Evaluation,
  ) =>
  async (run: Run): Promise<Result> => {
    const [result] = await compare([run], evaluation);
    return result as Result; // one for each
  };

/** A device to check: its configuration, or why it has none. */
type Subject = {
  readonly device: CheckedDevice;
  readonly configuration: string | { readonly reason: string };
  readonly timestamp: string;
};

/** The parts of a plan that count for one node. */
type OfPlan = { readonly variables?: Variables | undefined; readonly grading?: Grading | undefined };

/** `inventory`: the id of the one that the device is of, or that its attributes are from. */
export type DeviceFacts = {
  readonly device: CheckedDevice;
  readonly source?: KnownSource;
  readonly inventory?: string;
};

/** The facts about devices that golden texts see. */
export const deviceFacts = ({ tools, model, devices }: Pick<Needs, 'tools' | 'model' | 'devices'>) => {
  /**
   * The attributes of a device of an inventory; of one of an adapter, those of the node of its name in the first inventory
   * that has one, of those that the actor sees. They have no secrets here.
   */
  const attributesOf = async (
    { kind, id }: KnownSource,
    device: string,
    actor: Actor,
  ): Promise<Pick<CheckedDevice, 'attributes'> & Pick<DeviceFacts, 'inventory'>> => {
    const visible = (await tools.all(inventories)).filter((doc) => tools.mayRead(inventories, doc, actor));
    const ids = kind === 'inventory' ? [id] : visible.map(({ _id }) => _id);
    const entries = await model.getMany(
      nodes.collection,
      ids.map((one) => `${one}/${device}`),
    );
    const at = entries.findIndex((one) => one !== undefined);
    const entry = entries[at];
    if (!entry) return {};
    const { attributes }: NodeDoc = JSON.parse(entry.text);
    const plain = Object.entries(attributes).filter(([name]) => !isSecretName(name));
    return {
      attributes: maskSecrets(Object.fromEntries(plain)) as Variables,
      ...defined({ inventory: ids[at] }),
    };
  };

  /** The facts about a device; of one that the actor does not see, the name alone. */
  const factsOf = async (device: string, actor: Actor): Promise<DeviceFacts> => {
    try {
      const {
        source,
        device: { name, ostype, host },
      } = await devices.seenBy(actor).find(device);
      const { attributes, inventory } = await attributesOf(source, device, actor);
      const ofInventory = source.kind === 'inventory' ? source.id : inventory;
      const facts = defined({ name, ostype, host, adapter: source.name, attributes });
      return { device: facts, source, ...defined({ inventory: ofInventory }) };
    } catch (error) {
      if (error instanceof RequestError && error.code === 'not_found') return { device: { name: device } };
      throw error;
    }
  };

  return { factsOf };
};

/** The checks of devices against nodes of golden configurations. */
export const deviceChecks = ({ tools, digest, compare, ...others }: Needs) => {
  const { factsOf } = deviceFacts({ tools, ...others });

  /** The variables with their secrets in clear, and these secrets. */
  const openVariables = (variables: Variables) => {
    const secrets: string[] = [];
    const note = (secret: string): string => {
      secrets.push(secret);
      return secret;
    };
    const clear = openSecrets(variables, (sealed) => note(tools.unseal(sealed))) as Variables;
    // Those that earlier versions stored in clear.
    sealSecrets(clear, undefined, (secret) => ({ $sealed: note(secret), tag: '' }));
    return { variables: clear, secrets };
  };

  const check = async (tree: TreeState, node: Checked, subject: Subject, { variables, grading }: OfPlan = {}) => {
    const { device, configuration, timestamp } = subject;
    const golden = checkOf(tree, node, device, variables);
    const about = { ...node, device: device.name, deviceType: golden.deviceType, timestamp };
    if (typeof configuration !== 'string') return reportOf({ ...about, configuration: null }, configuration);
    const { texts, deviceType } = golden;
    const reason = whyNotCompared(deviceType);
    const outcome =
      reason === undefined
        ? await orReason(async () =>
            compare({
              texts,
              deviceType,
              configuration,
              ...openVariables(golden.variables),
              ...defined({ grading }),
            }),
          )
        : { reason };
    return reportOf(
      { ...about, configuration: { digest: digest(configuration), lines: linesOf(configuration) } },
      outcome,
    );
  };

  return { factsOf, check };
};
