import dagre from '@dagrejs/dagre';
import { useMemo } from 'preact/hooks';
import { html } from './html.ts';
import { type GraphProps, type JobOf, titleOf, type Workflow } from './job.ts';
import { linkTo } from './location.ts';

const [width, height] = [168, 40];
const mostTasks = 300;

type Box = { readonly id: string; readonly x: number; readonly y: number };
type Edge = {
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
};
type Layout = {
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
  readonly width: number;
  readonly height: number;
};

/** Places the tasks of a workflow from left to right. */
const layoutOf = ({ tasks, transitions }: Workflow): Layout => {
  const graph = new dagre.graphlib.Graph({ multigraph: false });
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 44, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set([...Object.keys(tasks), 'workflow_start', 'workflow_end']);
  for (const id of ids) graph.setNode(id, { width, height });
  for (const [from, targets] of Object.entries(transitions))
    for (const [to, edge] of Object.entries(targets ?? {}))
      if (ids.has(from) && ids.has(to)) graph.setEdge(from, to, { state: String(edge?.state ?? '') });
  dagre.layout(graph);
  const { width: across = 0, height: down = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    boxes: graph.nodes().map((id: string) => {
      const { x, y } = graph.node(id) as { x: number; y: number };
      return { id, x, y };
    }),
    edges: graph.edges().map(({ v, w }: { readonly v: string; readonly w: string }) => {
      const { points, state } = graph.edge(v, w) as { points: Edge['points']; state: string };
      return { from: v, to: w, state, points };
    }),
    width: across,
    height: down,
  };
};

const line = (points: Edge['points']): string =>
  points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

/** True if the job went from one task to the other. */
const wasTaken = ({ tasks = {} }: JobOf, { from, to, state }: Edge): boolean => {
  const [first, second] = [tasks[from], tasks[to]];
  const hasLeft = from === 'workflow_start' || (first?.run ?? 0) > 0;
  const hasCome = to === 'workflow_end' ? first?.status === 'done' : (second?.run ?? 0) > 0;
  return (
    hasLeft &&
    hasCome &&
    (from === 'workflow_start' || first?.result === null || state === '' || first?.result === state)
  );
};

const wordOf = (job: JobOf, id: string): string => {
  if (id === 'workflow_start') return 'done';
  const { status = 'idle', result } = job.tasks?.[id] ?? {};
  return status === 'done' && (result === 'error' || result === 'failure') ? result : status;
};

/** The workflow with the way that the job took. */
export const WorkflowGraph = ({ job, workflow, chosenTask }: GraphProps) => {
  const isLarge = Object.keys(workflow.tasks).length > mostTasks;
  const layout = useMemo(() => (isLarge ? undefined : layoutOf(workflow)), [workflow]);
  if (!layout)
    return html`<p class="quiet">The workflow has more than ${mostTasks} tasks, too many to draw. The table shows all of them.</p>`;
  const label = `Workflow with ${layout.boxes.length} tasks`;
  return html`<div class="graph" role="group" tabindex="0" aria-label=${label}>
    <svg width=${layout.width} height=${layout.height} viewBox=${`0 0 ${layout.width} ${layout.height}`}>
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" /></marker></defs>
      ${layout.edges.map((edge) => html`<path key=${`${edge.from} ${edge.to}`} class=${`edge ${edge.state}${wasTaken(job, edge) ? ' taken' : ''}`} d=${line(edge.points)} marker-end="url(#arrow)"><title>${edge.state}</title></path>`)}
      ${layout.boxes.map(({ id, x, y }) => {
        const word = wordOf(job, id);
        const isTask = job.tasks?.[id] !== undefined;
        const text = titleOf(workflow, id);
        const box = html`<span class=${`box ${word}${id === chosenTask ? ' chosen' : ''}`} title=${text}><span class="clip">${text}</span><small>${isTask ? word : ''}</small></span>`;
        return html`<foreignObject key=${id} x=${x - width / 2} y=${y - height / 2} width=${width} height=${height}>
          ${isTask ? html`<a href=${linkTo(['jobs', job._id], { task: id })} aria-current=${id === chosenTask ? 'true' : undefined}>${box}</a>` : box}
        </foreignObject>`;
      })}
    </svg>
  </div>`;
};
