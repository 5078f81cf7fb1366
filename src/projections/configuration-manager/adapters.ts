import { type AdapterContent, adapter } from '../../domain/configuration-manager/adapters.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, projection, touched } from '../engine/define.ts';
import { onlyGuard } from '../engine/guards.ts';

export type Adapter = { readonly name: string } & AdapterContent & Authored;

/** Adapters. Their secrets are sealed; authors are ids of accounts. */
export const adapters = projection<Adapter>()(adapter, {
  collection: 'adapters',
  on: {
    adapterCreated: (_, event) => ({ ...event.data, ...authorship(event) }),
    adapterReplaced: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    adapterDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: { name: (doc) => doc.name, type: (doc) => doc.type, device: (doc) => doc.devices.map(({ name }) => name) },
  guard: ({ name }) => onlyGuard(adapter.category, name),
});
