import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import type { NodeOperation } from '../../../domain/operations-manager/workflows/ownOperations.ts';
import type { Devices, Renderer } from '../../../southbound/port.ts';
import { commandRun } from './commandRun.ts';
import { deviceRuns } from './deviceRuns.ts';
import { eventRun } from './eventRun.ts';
import type { Operation } from './run.ts';
import { templateRuns } from './templateRun.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly renderer: Pick<Renderer, 'render'>;
  readonly devices: Pick<Devices, 'find' | 'calls'>;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
};

/** The operations of this service that nodes carry out for tasks. */
export const operationsHere = (needs: Needs): Readonly<Record<NodeOperation, Operation>> => {
  const { render, renderStoredWithCast, renderTextWithCast } = templateRuns(needs);
  const { getDevice, applyDeviceConfig } = deviceRuns(needs);
  return {
    'ConfigurationManager.applyDeviceConfig': applyDeviceConfig,
    'ConfigurationManager.getDevice': getDevice,
    'MOP.RunCommandTemplate': commandRun(needs),
    'OperationsManager.publishEvent': eventRun(needs),
    'TemplateBuilder.renderJinja2ContextWithCast': renderTextWithCast,
    'TemplateBuilder.renderJinja2TemplateWithCast': renderStoredWithCast,
    'TemplateBuilder.renderJinjaTemplate': render,
  };
};
