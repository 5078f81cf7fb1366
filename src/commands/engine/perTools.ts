import type { Tools } from './define.ts';

/** Keeps something for each node of a process, as its tools show it. */
export const perTools = <Value>(make: () => Value): ((tools: Partial<Tools>) => Value) => {
  const all = new WeakMap<Partial<Tools>, Value>();
  return (tools) => {
    const one = all.get(tools) ?? make();
    all.set(tools, one);
    return one;
  };
};
