import type { Operations } from '@automation-platform/client';
import { useRef, useState } from 'preact/hooks';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place, setQuery } from './location.ts';
import { Outcome } from './outcome.ts';
import { Action, descriptions, Link, Section, Shown, Table, Time } from './parts.ts';
import { call, may, newKey, newKeyHeader, read } from './platform.ts';
import { type Part, SideBySide } from './sideBySide.ts';

type Copy = Operations['configuration-manager.searchDeviceBackups']['answer']['list'][number];

const device = 'device';

const nameOfCopy = ({ date, description }: Copy): string =>
  `${new Date(date).toLocaleString('sv')}${description === '' ? '' : ` ${description}`}`;

type GoBackProps = { readonly name: string; readonly backup: string; readonly changed: () => void };

/** Takes a device back to a copy. The differences stand above it. */
const GoBack = ({ name, backup, changed }: GoBackProps) => {
  const [answer, setAnswer] = useState<unknown>();
  const key = useRef(newKey());
  const goBack = async (): Promise<void> => {
    setAnswer(undefined);
    const { body } = await call('configuration-manager.rollbackDeviceConfig', {
      path: { deviceName: name },
      headers: { 'Idempotency-Key': key.current },
      body: { backup },
    });
    key.current = newKey();
    setAnswer(body);
    changed();
  };
  return html`<div class="actions"><${Action} label="Restore" kind="grave" about="Takes the device back to the first of both" operation="configuration-manager.rollbackDeviceConfig" does=${goBack} /></div>
    ${answer !== undefined && html`<${Outcome} answer=${answer} />`}`;
};

type ComparedProps = { readonly name: string; readonly copies: readonly Copy[]; readonly changed: () => void };

const Compared = ({ name, copies, changed }: ComparedProps) => {
  const { first = '', second = device } = place.value.query;
  const loaded = useLoaded(
    async () =>
      first === ''
        ? undefined
        : ((
            await call('configuration-manager.lookupDiff', {
              body: {
                id: first,
                collection: 'backups',
                nextId: second === device ? name : second,
                nextCollection: second === device ? 'devices' : 'backups',
                options: { type: 'line' },
              },
            })
          ).body as unknown as readonly Part[]),
    [first, second],
  );
  const titleOf = (id: string): string => {
    const found = copies.find(({ _id }) => _id === id);
    return found ? nameOfCopy(found) : 'The device now';
  };
  const changedAll = (): void => {
    loaded.again();
    changed();
  };
  return html`<${Section} title="Side by side">
    <div class="tools">${(['first', 'second'] as const).map(
      (
        side,
      ) => html`<label key=${side}>${side === 'first' ? 'First' : 'Second'} <select onChange=${({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => setQuery({ [side]: currentTarget.value }, true)}>
        ${side === 'first' ? html`<option value="" selected=${first === ''}>Choose a copy</option>` : html`<option value=${device} selected=${second === device}>The device now</option>`}
        ${copies.map((one) => html`<option key=${one._id} value=${one._id} selected=${(side === 'first' ? first : second) === one._id}>${nameOfCopy(one)}</option>`)}
      </select></label>`,
    )}</div>
    ${first !== '' && html`<${Shown} loaded=${loaded}>${(parts: readonly Part[]) => html`<${SideBySide} parts=${parts} titles=${[titleOf(first), titleOf(second)]} />`}</${Shown}>`}
    ${first !== '' && second === device && html`<${GoBack} key=${first} name=${name} backup=${first} changed=${changedAll} />`}
  </${Section}>`;
};

/** The newest copies of the configuration of a device, two of them side by side, and the way back to one. `changed`: called when the device has changed. */
export const Copies = ({ name, changed }: { readonly name: string; readonly changed: () => void }) => {
  const loaded = useLoaded(
    async () => {
      const options = { filter: { name }, limit: 50, sort: { date: -1 } } as const;
      const { list } = await read('configuration-manager.searchDeviceBackups', { body: { options } });
      return list.filter((one) => one.name === name);
    },
    [name],
    { when: ({ resource }) => resource?.kind === 'configurationBackup' },
  );
  const copy = async (): Promise<void> => {
    await call('configuration-manager.backUpDevice', { headers: newKeyHeader(), body: { name } });
    loaded.again();
  };
  return html`<${Section} title="Copies" tools=${html`<${Action} label="Copy now" operation="configuration-manager.backUpDevice" does=${copy} says="The configuration is copied." />`}>
    <${Shown} loaded=${loaded}>${(
      rows: readonly Copy[],
    ) => html`<${Table} label="Copies" rows=${rows} keyOf=${({ _id }: Copy) => _id} empty="There is no copy of the configuration."
      columns=${[
        {
          title: 'At',
          cell: (one: Copy) =>
            html`<${Link} to=${place.value.path} query=${{ first: one._id }}><${Time} at=${one.date} /></${Link}>`,
        },
        descriptions,
        { title: 'Lines', kind: 'number', cell: (one: Copy) => one.lines },
        { title: 'Change', cell: (one: Copy) => one.change !== undefined && 'of a change' },
      ]} />
      ${rows.length > 0 && may('configuration-manager.lookupDiff') && html`<${Compared} name=${name} copies=${rows} changed=${changed} />`}`}</${Shown}>
  </${Section}>`;
};
