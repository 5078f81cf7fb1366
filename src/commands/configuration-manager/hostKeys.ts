import { type Device, type DeviceSource, sshPlaceOf } from '../../domain/configuration-manager/deviceSources.ts';
import { hostKey, hostKeyPinSchema, pinKey, remove } from '../../domain/configuration-manager/hostKeys.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';

const command = commandsOf(hostKey);

export const pinHostKey = command({ name: 'pinHostKey', input: hostKeyPinSchema, on: 'any', decide: pinKey });
export const deleteHostKey = command({ name: 'deleteHostKey', input: noInput, on: 'existing', decide: remove });

/** The id of the host key of a source's device. */
export const hostKeyId = ({ kind, name }: DeviceSource, device: string): string =>
  derivedId(`hostKey ${JSON.stringify([kind, name, device])}`);

/** The key that is pinned for a device of a source; undefined if there is none for its host and port. */
export const pinOf = async (
  { source, device }: { readonly source: DeviceSource; readonly device: Device },
  { state }: Pick<Tools, 'state'>,
) => {
  const { pin } = await state(hostKey, hostKeyId(source, device.name));
  const { host, port } = sshPlaceOf(device);
  return pin?.host === host && pin.port === port ? pin : undefined;
};
