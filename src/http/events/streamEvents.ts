import type { Common } from '../engine/route.ts';

/** The operation that opens a stream of events. */
export const streamEvents = {
  area: 'operations-manager',
  row: { name: 'streamEvents', access: ['operators', 'readers'] },
} as const satisfies { readonly area: string; readonly row: Pick<Common, 'name' | 'access'> };
