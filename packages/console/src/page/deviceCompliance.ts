import type { Operations } from '@automation-platform/client';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { codeOf, Link, Section, Shown, Status, Table, Time } from './parts.ts';
import { read } from './platform.ts';

type Membership = Operations['configuration-manager.getDeviceTrees']['answer'][number];
type Grade = Operations['configuration-manager.getGradeHistory']['answer'][number];
type Report = Operations['configuration-manager.getComplianceReport']['answer'];
type Issue = Report['issues'][number];
type Checked = { readonly node: Membership; readonly grade: Grade | undefined; readonly issues: readonly Issue[] };
type Row = {
  readonly section: string;
  readonly errors: number;
  readonly warnings: number;
  readonly infos: number;
};

/** The sections of a configuration that have issues, the worst first. */
const sectionsOf = (issues: readonly Pick<Issue, 'parents' | 'severity'>[]): readonly Row[] => {
  const rows = new Map<string, { section: string; errors: number; warnings: number; infos: number }>();
  const counts = { error: 'errors', warning: 'warnings', info: 'infos' } as const;
  for (const { parents, severity } of issues) {
    const section = parents[0] ?? '';
    const row = rows.get(section) ?? { section, errors: 0, warnings: 0, infos: 0 };
    row[counts[severity]]++;
    rows.set(section, row);
  }
  return [...rows.values()].sort((a, b) => b.errors - a.errors || b.warnings - a.warnings || b.infos - a.infos);
};

const most = 10;

/** The newest report of each node that the device is in. */
const load = async (device: string): Promise<readonly Checked[]> => {
  const nodes = await read('configuration-manager.getDeviceTrees', { body: { device } });
  return Promise.all(
    nodes.slice(0, most).map(async (node) => {
      const { id: treeId, version, nodePath } = node;
      const body = { treeId, version, nodePath, deviceName: device, options: { limit: 1 } };
      const [grade] = await read('configuration-manager.getGradeHistory', { body });
      const report = grade && (await read('configuration-manager.getComplianceReport', { path: { id: grade.id } }));
      return { node, grade, issues: report?.issues ?? [] };
    }),
  );
};

/** How a device complies with the golden configurations that it is in, by section. */
export const DeviceCompliance = ({ name }: { readonly name: string }) => {
  const loaded = useLoaded(() => load(name), [name], { when: ({ topic }) => /omplian/.test(topic) });
  return html`<${Section} title="Compliance"><${Shown} loaded=${loaded}>${(all: readonly Checked[]) =>
    all.length === 0
      ? html`<p class="empty">No golden configuration has the device.</p>`
      : all.map(
          ({ node, grade, issues }) => html`<div class="stack" key=${node.nodeId}>
      <div class="line"><h3><${Link} to=${['compliance', 'trees', node.id, node.version, node.nodePath]}>${node.name} ${node.version}: ${node.nodePath}</${Link}></h3>
        ${
          grade
            ? html`<${Status} word=${grade.grade ?? 'not graded'} /><span class="quiet">score ${grade.score}, <${Time} at=${grade.timestamp} /></span> <${Link} to=${['compliance', '-', '-', grade.id]}>report</${Link}>`
            : html`<span class="quiet">not checked yet</span>`
        }</div>
      ${
        grade &&
        html`<${Table} label=${`Sections of ${node.nodePath}`} rows=${sectionsOf(issues)} keyOf=${({ section }: Row) => section} empty="The device has every golden line."
        columns=${[
          {
            title: 'Section',
            kind: 'wide',
            cell: ({ section }: Row) => (section === '' ? 'outside of sections' : codeOf(section)),
          },
          { title: 'Errors', kind: 'number', cell: ({ errors }: Row) => errors },
          { title: 'Warnings', kind: 'number', cell: ({ warnings }: Row) => warnings },
          { title: 'Infos', kind: 'number', cell: ({ infos }: Row) => infos },
        ]} />`
      }</div>`,
        )}</${Shown}></${Section}>`;
};
