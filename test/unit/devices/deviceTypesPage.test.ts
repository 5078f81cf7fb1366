import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type DeviceType, deviceTypes, generic } from '@automation-platform/devices';

const page = new URL('../../../docs/device-types.md', import.meta.url);

const codes = (words: readonly string[], between = ', '): string => words.map((word) => `\`${word}\``).join(between);
const cell = (text: string): string => text.replaceAll('|', '\\|') || '-';
const forms = (some: readonly RegExp[]): string => some.map(({ source, flags }) => `/${source}/${flags}`).join('\n');

/** The facts of each type, in the order of the page. Rows that no type fills are left out of its table. */
const rowsOf = (type: DeviceType): readonly (readonly [string, string | undefined])[] => {
  const { candidate } = type;
  return [
    ['other names', codes(type.aliases)],
    ['prompt', type.prompt && codes([type.prompt.source])],
    ['asks in the shell', type.login && codes(type.login.map(({ of }) => of))],
    ['rights to configure', type.enable && codes([type.enable])],
    ['no paging', codes(type.setup)],
    ['enter', codes(type.enter)],
    ['commit', candidate && codes([candidate.commit])],
    ['leave', codes(type.leave)],
    ['after a refusal', codes(candidate?.discard ?? type.abandon ?? type.leave)],
    ['commit check', candidate?.check && codes([candidate.check])],
    ['what it would change', candidate?.compare && codes([candidate.compare])],
    ['confirmed commit', candidate?.confirmed && codes([candidate.confirmed, candidate.confirm ?? ''])],
    ['go back', candidate?.rollback && codes(candidate.rollback)],
    ['save', codes(type.save)],
    ['running configuration', type.running && codes([type.running]) + (type.showsWithin ? ', after `enter`' : '')],
    ['startup configuration', type.startup && codes([type.startup])],
    ['exit status', type.exitStatus && codes([type.exitStatus])],
    ['undo a line', type.undoWords],
    ['shown in', { sections: 'sections', lines: 'whole lines', menus: 'lines below menus' }[type.form]],
    [
      'questions and answers',
      type.questions.map(({ asks, answer }) => `\`${asks.source}\`: ${answer ? `\`${answer}\`` : 'Enter'}`).join('; '),
    ],
  ];
};

const sectionOf = (type: DeviceType): string => {
  const rows = rowsOf(type).filter(([, value]) => value);
  const words =
    type === generic
      ? []
      : [
          '',
          '```text',
          ...(type.volatile ? [`always changing\n${forms(type.volatile)}`] : []),
          `refusals\n${forms(type.refusals)}`,
          `harmless\n${forms(type.harmless)}`,
          '```',
        ];
  return [
    `## ${type.title}: \`${type.name}\``,
    '',
    '| | |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${cell(value ?? '')} |`),
    ...words,
  ].join('\n');
};

const yes = (value: unknown): string => (value ? 'yes' : '-');

const pageOf = (types: readonly DeviceType[]): string =>
  [
    '# Types of devices',
    '',
    'This page is made from the table in `packages/devices/src/types` (`npm run golden`). [southbound.md](southbound.md) says how a type is',
    'used. A device has the type that its `ostype` names, in any case; `_` counts as `-`. Names of Ansible, netmiko and NAPALM are',
    'known. Without one, or with one that is not here, it is `generic`.',
    '',
    "An adapter's own `prompt`, `setup`, `enter`, `leave` and `show` go before the type's. Its `refusals` and `harmless` add to them.",
    'A word that `refusals` has is a refusal even if the type calls it harmless.',
    '',
    '| type | candidate | commit check | confirmed commit | goes back | running configuration |',
    '|---|---|---|---|---|---|',
    ...types.map(
      ({ name, candidate, running }) =>
        `| \`${name}\` | ${yes(candidate)} | ${yes(candidate?.check)} | ${yes(candidate?.confirmed)} | ${yes(candidate?.rollback)} | ${yes(running)} |`,
    ),
    '',
    'A line is tried without the blanks around it. A line that stands in `harmless` is no refusal.',
    '',
    types.map(sectionOf).join('\n\n'),
    '',
  ].join('\n');

describe('docs/device-types.md', () => {
  it('is what the table of types says', () => {
    const now = pageOf([...deviceTypes, generic]);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, now);
    const kept = existsSync(page) ? readFileSync(page, 'utf8') : '';
    assert.equal(kept, now, 'Run npm run golden and read the difference');
  });
});
