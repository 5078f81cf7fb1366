import { lruCache } from '@automation-platform/concurrency';
import Router from '@koa/router';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { AreaRoutes, Params, Route } from './route.ts';

/** A route with its area and full path. */
export type Placed = { readonly route: Route; readonly area: AreaRoutes['area']; readonly fullPath: string };

/** The pattern of a path: a parameter whose name ends in `Path` is one or several names, joined by `/`. */
const patternOf = (fullPath: string): string => fullPath.replace(/:(\w+Path)\b/g, '*$1');

/**
 * The result of a search by method and path: a route with its parameters, or the methods that the path allows, or
 * undefined.
 */
export type Match =
  | { readonly placed: Placed; readonly params: Params }
  | { readonly allow: readonly string[] }
  | undefined;

/** The full path of a route. A path `/` is the area's prefix itself. */
export const fullPathOf = ({ prefix }: AreaRoutes, { path }: Route): string =>
  path === '/' && prefix !== '' ? prefix : prefix + path;

/** The path with the first word after the prefix as the area's routes spell it. */
const spelled = ({ prefix, spellings = {} }: AreaRoutes, path: string): string => {
  const [word = ''] = path.slice(prefix.length + 1).split('/', 1);
  if (!Object.hasOwn(spellings, word)) return path;
  return `${prefix}/${spellings[word]}${path.slice(prefix.length + 1 + word.length)}`;
};

const routerOf = (area: AreaRoutes) => {
  const router = new Router({ sensitive: true, strict: true });
  const placed = new Map<unknown, Placed>();
  for (const route of area.routes) {
    const fullPath = fullPathOf(area, route);
    placed.set(
      router.register(patternOf(spelled(area, fullPath)), [route.method], () => undefined, {}),
      { route, area: area.area, fullPath },
    );
  }
  return { router, placed };
};

/**
 * Makes the function that finds routes. It picks the area by prefix first and asks that area's router then, because
 * @koa/router tries its routes one after the other. Results are kept by method and path.
 */
export const routeFinder = (areas: readonly AreaRoutes[]) => {
  const found = lruCache<Exclude<Match, undefined>>(5000);
  const routers = new Map<AreaRoutes, ReturnType<typeof routerOf>>();
  /** The router of an area, made when it is first needed: that of all would take a tenth of a start. */
  const routerFor = (area: AreaRoutes): ReturnType<typeof routerOf> => {
    const router = routers.get(area) ?? routerOf(area);
    routers.set(area, router);
    return router;
  };

  const search = (method: string, called: string): Match => {
    const allow = new Set<string>();
    for (const area of areas) {
      if (!called.startsWith(area.prefix)) continue;
      const { router, placed } = routerFor(area);
      const path = spelled(area, called);
      const { path: layers, pathAndMethod } = router.match(path, method);
      // Of several patterns that end in a path of names, the first counts.
      const isOpen = (layer: { readonly path: string | RegExp }): boolean => String(layer.path).includes('*');
      const open = layers.find(isOpen);
      const fits = (layer: { readonly path: string | RegExp }): boolean => !isOpen(layer) || layer.path === open?.path;
      const layer = pathAndMethod.find(fits);
      const route = layer && placed.get(layer);
      if (route) return { placed: route, params: layer.params(path, layer.captures(path)) };
      for (const other of layers.filter(fits)) for (const name of other.methods) allow.add(name);
    }
    if (allow.size > 0) return { allow: [...allow, 'OPTIONS'] };
    // Other programs write `/operations_manager`.
    const hyphened = called.replace(/^\/[a-z_]+/, (word) => word.replaceAll('_', '-'));
    return hyphened === called ? undefined : search(method, hyphened);
  };

  return (method: string, path: string): Match => {
    const key = `${method} ${path}`;
    const cached = found.get(key);
    if (cached) return cached;
    const match = search(method, path);
    if (match && path.length < 1000) found.set(key, match);
    return match;
  };
};

const control = /[\u0000-\u001f\u007f]/;

/** The most characters of a parameter with this name. */
export const longestParam = (name: string): number => (name.endsWith('Path') ? 4096 : 256);

/** Throws `invalid` for a parameter that cannot be a name or id, or a path of names: too long, or with control characters. */
export const checkParams = (params: Params): void => {
  for (const [name, value] of Object.entries(params)) {
    const most = longestParam(name);
    if (value === '' || (value.length > most && [...value].length > most) || control.test(value))
      throw new RequestError('invalid', `${name} must have 1 to ${most} characters, none of them control characters`, {
        path: name,
      });
  }
};
