import type { AreaRows, Row } from '../engine/route.ts';
import { changes } from './openapiFailures.ts';

/** What an operation does beyond its summary, and who may call it. */
export const descriptionOf = (area: AreaRows['area'], row: Row): string =>
  `${row.description ?? ofKind(row)}\n\n${whoMayCall(area, row)}`;

/** What holds for all operations of a kind. */
const ofKind = (row: Row): string => {
  if ('list' in row && row.list) {
    const fields = Object.keys(row.list.filters).map((field) => `\`${field}\``);
    const visible = 'guard' in row.list && row.list.guard !== undefined ? ' Shows what the caller may read.' : '';
    const filters = fields.length > 0 ? ` Filters look at ${fields.join(', ')}.` : '';
    return `One page: \`skip\`, \`limit\`, \`sort\` and \`order\` say which.${filters}${visible}`;
  }
  if (changes(row)) return changeOf(row);
  if ('get' in row) {
    const visible = row.get.guard === undefined ? '' : ' 404 for who may not read it.';
    return `The document as it is now, with everything that this node has acknowledged.${visible}`;
  }
  return 'Changes nothing.';
};

const changeOf = (row: Row): string => {
  if (!('command' in row)) return 'Sent again with its `Idempotency-Key`, it is carried out once.';
  if (row.command.on === 'new')
    return 'The answer has what was created. Sent again with its `Idempotency-Key`, it creates nothing twice.';
  return 'With `If-Match` it is refused if somebody has changed the resource since the caller looked.';
};

const whoMayCall = (area: AreaRows['area'], { access, name, byMetricsToken }: Row): string => {
  if (access === 'open') return 'Everybody may call it, without a login.';
  if (byMetricsToken) return 'Whoever is logged in may call it, and whoever sends METRICS_TOKEN.';
  if (access === 'login') return 'Whoever is logged in may call it.';
  const groups = ['admins', ...access].map((group) => `\`${group}\``).join(', ');
  return `Members of ${groups} may call it, and whoever has a role with the method \`${name}\` of \`${area}\`.`;
};
