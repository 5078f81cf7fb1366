import { adapter, type AdapterContent, type AdapterEvent } from '../domain/adapters.ts';
import type { Authored } from '../domain/authors.ts';
import { projection } from './define.ts';
import { made, touched } from './stamps.ts';

export type Adapter = { readonly name: string } & AdapterContent & Authored;

/** Adapters, their secrets sealed; authors are ids of accounts. */
export const adapters = projection<Adapter, AdapterEvent>(adapter, {
  collection: 'adapters',
  on: {
    adapterCreated: (_, event) => ({ ...event.data, ...made(event) }),
    adapterReplaced: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    adapterDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: { name: (doc) => doc.name, type: (doc) => doc.type, device: (doc) => doc.devices.map(({ name }) => name) },
});
