import type { AreaRoutes, Route } from '../engine/route.ts';
import { changes } from './openapiFailures.ts';

/** The description of an operation: what it does beyond its summary, and who may call it. */
export const descriptionOf = (area: AreaRoutes['area'], route: Route): string =>
  `${route.description ?? ofKind(route)}\n\n${whoMayCall(area, route)}`;

/** The description that holds for all operations of a kind. */
const ofKind = (route: Route): string => {
  if ('list' in route && route.list) {
    const fields = Object.keys(route.list.filters).map((field) => `\`${field}\``);
    const visible = 'guard' in route.list && route.list.guard !== undefined ? ' Shows what the caller may read.' : '';
    const filters = fields.length > 0 ? ` Filters look at ${fields.join(', ')}.` : '';
    return `One page: \`skip\`, \`limit\`, \`sort\` and \`order\` say which.${filters}${visible}`;
  }
  if (changes(route)) return changeOf(route);
  if ('get' in route) {
    const visible = route.get.guard === undefined ? '' : ' 404 for who may not read it.';
    return `The document as it is now, with everything that this node has acknowledged.${visible}`;
  }
  return 'Changes nothing.';
};

const changeOf = (route: Route): string => {
  if (!('command' in route)) return 'Sent again with its `Idempotency-Key`, it is carried out once.';
  if (route.command.on === 'new')
    return 'The answer has what was created. Sent again with its `Idempotency-Key`, it creates nothing twice.';
  return 'With `If-Match` it is refused if somebody has changed the resource since the caller looked.';
};

const whoMayCall = (area: AreaRoutes['area'], { access, name, byMetricsToken }: Route): string => {
  if (access === 'open') return 'Everybody may call it, without a login.';
  if (byMetricsToken) return 'Whoever is logged in may call it, and whoever sends METRICS_TOKEN.';
  if (access === 'login') return 'Whoever is logged in may call it.';
  const groups = ['admins', ...access].map((group) => `\`${group}\``).join(', ');
  return `Members of ${groups} may call it, and whoever has a role with the method \`${name}\` of \`${area}\`.`;
};
