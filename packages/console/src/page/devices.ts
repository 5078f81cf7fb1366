import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { Changes } from './changes.ts';
import { OneDevice } from './device.ts';
import { deviceGroups, deviceTemplates, inventories, nodesIn } from './deviceKinds.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { Link, List, pageQuery } from './parts.ts';
import { call, isNow } from './platform.ts';
import { Resources, Tabs } from './resource.ts';

type Device = Operations['configuration-manager.getDevices']['answer']['list'][number];

const AsItIs = () =>
  isNow.value ? null : html`<p class="quiet">Devices are asked now: they have no past of their own.</p>`;

const DeviceList = () => {
  const { filter } = place.value.query;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (name: string) => (): void =>
    setChosen(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  const loaded = useLoaded(
    async () => {
      const { skip, limit } = pageQuery();
      const options = { start: skip, limit, ...(filter && { filter: { name: filter } }) };
      const { list, total } = (await call('configuration-manager.getDevices', { body: { options } })).body;
      return { rows: list, total };
    },
    [JSON.stringify(place.value.query)],
    { when: ({ resource }) => resource?.kind === 'adapter' || resource?.kind === 'inventory' },
  );
  return html`<${AsItIs} /><${List} label="Devices" loaded=${loaded} keyOf=${(device: Device) => `${device.origin} ${device.name}`} empty="No adapter and no inventory has a device."
    tools=${chosen.length > 0 && html`<${Link} isButton=${true} to=${changesAt} query=${{ devices: chosen.join('\n') }}>Change ${chosen.length} chosen</${Link}>`}
    columns=${[
      {
        title: 'Choose',
        kind: 'narrow',
        cell: ({ name }: Device) =>
          html`<input type="checkbox" aria-label=${`Choose ${name}`} checked=${chosen.includes(name)} onChange=${choose(name)} />`,
      },
      {
        title: 'Device',
        kind: 'wide',
        cell: (device: Device) => html`<${Link} to=${['devices', device.name]}>${device.name}</${Link}>`,
      },
      { title: 'Address', cell: (device: Device) => device.host },
      { title: 'Type', cell: (device: Device) => device.ostype },
      { title: 'Adapter', cell: (device: Device) => device.adapter },
      { title: 'Inventory', cell: (device: Device) => device.inventory },
    ]} />`;
};

const kinds = [inventories, deviceGroups, deviceTemplates] as const;
const changesAt = ['devices', '-', 'changes'];
const tabs = [
  ['Devices', ['devices']],
  ...kinds.map(({ title, at }) => [title, at] as const),
  ['Change devices', changesAt],
] as const;

/** The devices that the platform reaches, inventories and device groups. */
export const Devices = () => {
  const [, name, list, inventory, part] = place.value.path;
  if (name !== undefined && list === undefined) return html`<${OneDevice} name=${name} />`;
  if (list === changesAt[2]) return html`<${Tabs} tabs=${tabs} /><${Changes} />`;
  if (inventory !== undefined && part === 'nodes')
    return html`<${Tabs} tabs=${tabs} /><${Resources} kind=${nodesIn(inventory)} />`;
  const kind = kinds.find(({ at }) => at[2] === list);
  return html`<${Tabs} tabs=${tabs} />${kind ? html`<${Resources} kind=${kind} />` : html`<${DeviceList} />`}`;
};
