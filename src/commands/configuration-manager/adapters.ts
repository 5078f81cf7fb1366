import { adapterReplacementSchema, newAdapterSchema } from '../../domain/configuration-manager/adapterSchemas.ts';
import {
  type AdapterState,
  adapter,
  create,
  provideLab as provide,
  remove,
  replace,
  sealProperties,
} from '../../domain/configuration-manager/adapters.ts';
import { type Adapter, adapters } from '../../projections/configuration-manager/adapters.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import { queryAll } from '../engine/tools.ts';
import { namingCredentials } from './credentials.ts';

const command = commandsOf(adapter);

type Input = Parameters<typeof sealProperties>[1];

const prepare = async (
  { state, input }: { readonly state: AdapterState; readonly input: Input },
  { seal }: Pick<Tools, 'seal'>,
) => ({ properties: () => sealProperties(state, input, seal) });

const named = ({ properties }: Input) => [properties, '/properties'] as const;

export const createAdapter = command({
  name: 'createAdapter',
  input: newAdapterSchema,
  on: 'new',
  ...namingCredentials({ named, prepare, decide: create }),
});
export const replaceAdapter = command({
  name: 'replaceAdapter',
  input: adapterReplacementSchema,
  on: 'existing',
  ...namingCredentials({ named, prepare, decide: replace }),
});
export const deleteAdapter = command({ name: 'deleteAdapter', input: noInput, on: 'existing', decide: remove });

/** Creates the simulated adapter of the first start. */
export const provideLab = command({ name: 'provideLab', input: noInput, on: 'any', decide: provide });

/** The stored adapters, sorted by name: all, or those that have the device. */
export const storedAdapters = (tools: Pick<Tools, 'query'>, device?: string): Promise<readonly Adapter[]> =>
  queryAll(tools, adapters, device === undefined ? undefined : { field: 'device', op: 'equals', value: device });

export const adapterKind: Kind = { of: adapter, restore: { there: by(replaceAdapter), gone: by(createAdapter) } };
