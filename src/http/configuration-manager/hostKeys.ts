import { Type } from 'typebox';
import { deleteHostKey, hostKeyId, pinHostKey, pinOf } from '../../commands/configuration-manager/hostKeys.ts';
import { fingerprint } from '../../domain/configuration-manager/adapterSchemas.ts';
import { sshPlaceOf } from '../../domain/configuration-manager/deviceSources.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { requestOf } from '../engine/serve.ts';

const path = '/devices/:deviceName/hostKey';

const hostKeySchema = Type.Object(
  {
    device: Type.String(),
    fingerprint: Type.String(),
    type: Type.String({ description: 'Such as ssh-ed25519' }),
    pinned: Type.Boolean({ description: 'It is the key that is pinned' }),
    changed: Type.Optional(Type.Boolean({ description: 'Another key is pinned' })),
  },
  { title: 'HostKey', description: 'Host key of a device' },
);

const none = (): RequestError =>
  new RequestError('not_found', 'No host key is pinned for this device', { path: 'device' });

const withoutPadding = (text: string): string => text.replace(/=+$/, '');

/** Host keys of devices over SSH: they are asked for, compared by people, and pinned (docs/southbound.md). */
export const hostKeyRoutes: readonly Route[] = [
  actionRoute({
    name: 'askHostKey',
    method: 'post',
    path,
    access: ['operators'],
    summary: 'Ask a device for its host key, and pin it',
    description:
      'Logs in nowhere. Compare the fingerprint with that which the device shows on its console, and send it back as `accept`: ' +
      'that pins it, in the place of a former one. 409 if the device shows another key.',
    body: Type.Object({ accept: Type.Optional(fingerprint) }, { additionalProperties: false }),
    answer: hostKeySchema,
    run: async (call, service) => {
      const { params, body, actor, traceparent } = call;
      const about = requestOf('askHostKey', call, service);
      const visible = service.devices.seenBy(actor);
      const { source, device } = await visible.find(params.deviceName ?? '');
      const key = await visible.calls(traceparent).hostKey(device.name);
      const answer = { device: device.name, ...key };
      if (body.accept === undefined) {
        const pin = await pinOf({ source, device }, service.tools);
        const pinned = pin?.fingerprint === key.fingerprint;
        return { body: pin && !pinned ? { ...answer, pinned, changed: true } : { ...answer, pinned } };
      }
      if (withoutPadding(body.accept) !== key.fingerprint)
        throw new RequestError('conflict', `The device shows another key: ${key.fingerprint}`, { path: '/accept' });
      const { kind, name } = source;
      const { position, replayed } = await service.handle(pinHostKey, {
        ...about,
        id: hostKeyId(source, device.name),
        input: { source: { kind, name }, device: device.name, ...sshPlaceOf(device), ...key },
      });
      return { body: { ...answer, pinned: true }, position, replayed };
    },
  }),
  actionRoute({
    name: 'getHostKey',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get the host key that is pinned for a device',
    answer: hostKeySchema,
    run: async ({ params, actor }, { devices, tools }) => {
      const found = await devices.seenBy(actor).find(params.deviceName ?? '');
      const pin = await pinOf(found, tools);
      if (!pin) throw none();
      const { device, fingerprint, type } = pin;
      return { body: { device, fingerprint, type, pinned: true } };
    },
  }),
  actionRoute({
    name: 'deleteHostKey',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Pin the host key of a device no longer',
    answer: Type.Object({ status: Type.Literal('success'), message: Type.String() }),
    run: async (call, service) => {
      const about = requestOf('deleteHostKey', call, service);
      const { source, device } = await service.devices.seenBy(call.actor).find(call.params.deviceName ?? '');
      const id = hostKeyId(source, device.name);
      const { position, replayed } = await service.handle(deleteHostKey, { ...about, id, input: {} });
      const body = { status: 'success', message: 'The host key is pinned no longer' };
      return { body, position, replayed };
    },
  }),
];
