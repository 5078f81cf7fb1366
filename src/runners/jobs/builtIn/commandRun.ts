import { oneByOne } from '@automation-platform/concurrency';
import { isObject } from '@automation-platform/json';
import { whyNotRun } from '../../../commands/engine/access.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import { type CommandTemplateRun, runCommandTemplate } from '../../../commands/mop/runTemplates.ts';
import type { Sealed } from '../../../domain/engine/sealed.ts';
import { openSecrets } from '../../../domain/engine/secretFields.ts';
import { commandTemplate } from '../../../domain/mop/commandTemplates.ts';
import { commandTemplates } from '../../../projections/mop/commandTemplates.ts';
import { redactedIn } from '../../../southbound/failure.ts';
import type { Devices } from '../../../southbound/port.ts';
import { type Operation, RunEnded } from './run.ts';
import { devicesSeen } from './seenDevices.ts';

type Needs = {
  readonly tools: Pick<Tools, 'find' | 'state' | 'stateForRights' | 'gbacAbove' | 'unseal'>;
  readonly devices: Pick<Devices, 'seenBy'>;
};

const mostDevices = 1000;
const mostResults = 8 * 1024 * 1024;
const mostSecrets = 100;

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

const devicesIn = (value: unknown): readonly string[] => {
  const isFit = Array.isArray(value) && value.length > 0 && value.length <= mostDevices;
  if (isFit && value.every(isName)) return value;
  throw new RunEnded('The variable devices must be a list of 1 to 1,000 names of devices');
};

const variablesIn = (value: unknown): Readonly<Record<string, unknown>> => {
  if (isObject(value)) return value;
  throw new RunEnded('The variable variables must be an object');
};

/** The results as they are stored. Throws `RunEnded` if they are too large. Other requests go on meanwhile. */
const storable = async (run: CommandTemplateRun, secrets: readonly string[]): Promise<unknown> => {
  let room = mostResults;
  const results = await oneByOne(run.commands_results, (result) => {
    room -= JSON.stringify(result).length;
    if (room < 0)
      throw new RunEnded(`All commands were sent, but the results have more than ${mostResults} characters`);
    return redactedIn(result, secrets);
  });
  return { ...run, commands_results: results };
};

/**
 * Runs a command template on devices. Secrets are sent to the devices in clear, and show as ******** in the results.
 * Each command is a step.
 */
export const commandRun =
  ({ tools, devices }: Needs): Operation =>
  async (run) => {
    const { inputs, started, signal, step, acts } = run;
    const actor = await step();
    const { template } = inputs;
    const found = isName(template) ? await tools.find(commandTemplates, template) : undefined;
    const isRun = found !== undefined && !(await whyNotRun({ of: commandTemplate, id: found }, actor, tools));
    const id = isRun ? found : undefined;
    const { content } = id === undefined ? {} : await tools.state(commandTemplate, id);
    if (!content) throw new RunEnded(`There is no mop-template ${JSON.stringify(template)}`);
    const names = devicesIn(inputs.devices);
    const secrets = new Set<string>();
    const open = (sealed: Sealed): string => {
      const secret = tools.unseal(sealed);
      secrets.add(secret);
      return secret;
    };
    const variables = openSecrets(variablesIn(inputs.variables ?? {}), open) as Record<string, unknown>;
    if (secrets.size > mostSecrets) throw new RunEnded(`The variables have more than ${mostSecrets} secrets`);
    const asOfNow = async () => devicesSeen(devices, await step(), run);
    const visibleDevices = await asOfNow();
    const results = await runCommandTemplate(content, names, variables, {
      find: visibleDevices.find,
      run: async (device, command) => {
        const { calls } = await asOfNow();
        acts();
        return calls(started.metadata.traceparent, signal).run(device, command);
      },
    });
    return { mop_template_results: await storable(results, [...secrets]) };
  };
