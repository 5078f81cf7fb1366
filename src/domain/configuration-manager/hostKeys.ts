import { type Static, Type } from 'typebox';
import { same } from '../engine/changes.ts';
import { aggregate, type EventOf, type SchemaData } from '../engine/core.ts';
import { nothing, text, topicsOf, whole } from '../engine/topics.ts';

/** The key by which a device of a source is known, at its host and port. */
const pin = Type.Object({
  source: Type.Object({ kind: Type.Enum(['adapter', 'inventory']), name: text }),
  device: text,
  host: text,
  port: whole,
  fingerprint: text,
  type: text,
});
type HostKeyPin = SchemaData<typeof pin>;

const topics = topicsOf({
  hostKeyPinned: ['The host key of a device was pinned', pin],
  hostKeyRemoved: ['The host key of a device is pinned no longer', nothing],
});
type HostKeyEvent = EventOf<typeof topics>;

export type HostKeyState = { readonly pin?: HostKeyPin };

/** The host key of a device. The id is derived from source and device. */
export const hostKey = aggregate<HostKeyState, HostKeyEvent>({
  area: 'configuration-manager',
  category: 'hostKey',
  topics,
  initial: {},
  evolve: { hostKeyPinned: (_, pin) => ({ pin }), hostKeyRemoved: () => ({}) },
  exists: ({ pin }) => pin !== undefined,
});

export const hostKeyPinSchema = pin;

export const pinKey = (state: HostKeyState, pin: Static<typeof hostKeyPinSchema>): readonly HostKeyEvent[] =>
  same(state.pin, pin) ? [] : [{ topic: 'hostKeyPinned', data: pin }];

export const remove = (): readonly HostKeyEvent[] => [{ topic: 'hostKeyRemoved', data: {} }];
