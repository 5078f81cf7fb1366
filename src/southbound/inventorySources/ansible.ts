import { isObject, type Members, own } from '@automation-platform/json';
import { unsoundIn } from '../../domain/engine/strictJson.ts';
import { deviceOf } from '../../domain/inventory-manager/nodeDevices.ts';
import type { Refuse, SourceNode } from './port.ts';

const read = (text: string, refuse: Refuse): Members => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('It is no JSON');
  }
  const fault = unsoundIn(text);
  if (fault !== undefined) return refuse(fault);
  return isObject(value) ? value : refuse('It is no object');
};

const namesIn = (group: Members, member: 'hosts' | 'children', name: string, refuse: Refuse): readonly string[] => {
  const value = own(group, member) ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  return refuse(`The ${member} of the group ${JSON.stringify(name)} are no list of names`);
};

/** The most steps of a text from groups to the groups that they are in, and from hosts to groups. */
const mostSteps = 5_000_000;

/** These are in every inventory and say nothing. */
const ofAll = ['all', 'ungrouped'];

/**
 * The nodes of an inventory of Ansible. The variables of a host are attributes; tags are its groups, and the groups that these
 * are in. A host without an address has its name for one, as Ansible takes it. Refuses a text with the reason.
 */
export const ansibleNodes = (text: string, refuseFor: Refuse): readonly SourceNode[] => {
  const refuse: Refuse = (why) => refuseFor(`${why}: it must be what ansible-inventory --list prints`);
  const { _meta: meta = {}, ...groups } = read(text, refuse);
  const variables = isObject(meta) ? (own(meta, 'hostvars') ?? {}) : undefined;
  if (!isObject(variables)) return refuse('The _meta.hostvars are no object');
  const tags = new Map<string, Set<string>>(Object.keys(variables).map((host) => [host, new Set()]));
  const parents = new Map<string, string[]>();
  for (const [name, group] of Object.entries(groups)) {
    if (!isObject(group)) return refuse(`The group ${JSON.stringify(name)} is no object`);
    for (const child of namesIn(group, 'children', name, refuse)) {
      const ofChild = parents.get(child);
      if (ofChild) ofChild.push(name);
      else parents.set(child, [name]);
    }
  }
  let steps = 0;
  const countStep = (): void => {
    if (++steps > mostSteps) refuse('Its hosts are in too many groups');
  };
  /** The group and all that it is in. Groups may be in one another. */
  const withParents = (name: string): ReadonlySet<string> => {
    const found = new Set([name]);
    for (const one of found)
      for (const parent of parents.get(one) ?? []) {
        countStep();
        found.add(parent);
      }
    return found;
  };
  for (const [name, group] of Object.entries(groups)) {
    const names = [...withParents(name)].filter((one) => !ofAll.includes(one));
    for (const host of namesIn(group as Members, 'hosts', name, refuse)) {
      const of = tags.get(host) ?? new Set();
      for (const tag of names) {
        countStep();
        of.add(tag);
      }
      tags.set(host, of);
    }
  }
  return [...tags].map(([name, of]) => {
    const attributes = own(variables, name) ?? {};
    if (!isObject(attributes)) return refuse(`The variables of the host ${JSON.stringify(name)} are no object`);
    const hasHost = deviceOf({ name, attributes }) !== undefined;
    return { name, attributes: hasHost ? attributes : { ...attributes, ansible_host: name }, tags: [...of] };
  });
};
