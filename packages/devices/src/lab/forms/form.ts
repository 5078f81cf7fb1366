import type { Device } from '../../device.ts';
import type { RefusedLine } from '../../texts/sections.ts';
import type { DeviceType } from '../../types/type.ts';

/** A simulated device that carries out a command. `up`: how many milliseconds it has been running. */
type LabQuery = { readonly device: Device; readonly memory: string; readonly up: number };

/**
 * How the simulated devices of a type write a configuration and take lines. `memory` is the text that they keep: lines that
 * make the configuration of an empty device.
 */
export type LabForm = {
  /** The end of a file's name: a device whose form is another one begins anew. */
  readonly file: string;
  /** The memory of a device that was never changed. */
  readonly initial: (device: Device) => string;
  /** The memory after some lines, unless some are refused. */
  readonly take: (
    memory: string,
    config: string,
  ) => { readonly memory: string; readonly refused: readonly RefusedLine[] };
  /** The running configuration as the device prints it. None: it has no configuration. */
  readonly show?: (memory: string) => string;
  /** The words to a line that the device does not know. */
  readonly refusal: (line: string) => string;
  /** The output of a command. */
  readonly answer: (command: string, query: LabQuery) => string;
};

/** True for lines that only lead into a mode or out of it, and for those that commit. */
export const isOfMode = (line: string, { enter, leave, candidate }: DeviceType): boolean =>
  [...enter, ...leave, ...(candidate ? [candidate.commit] : [])].includes(line.trim());
