/** A wire of a transformation, in short: from and to are `<location> <name> <pointer>`. */
export const wire = (from: string, to: string) => {
  const [fromEnd, toEnd] = [from, to].map((text) => {
    const [location, name, ptr = ''] = text.split(' ');
    return { location, name, ptr };
  });
  return { type: 'assign', from: fromEnd, to: toEnd };
};

/** A step, by `Library.method`. */
export const step = (id: number, name: string, args: readonly unknown[] = []) => {
  const [library, method] = name.split('.');
  return { id, type: 'method', library, method, args };
};

/** A transformation with inputs and outputs of any type. */
export const transformation = (
  name: string,
  { incoming, outgoing, steps }: { incoming: readonly string[]; outgoing: readonly string[]; steps: readonly object[] },
) => {
  const places = (names: readonly string[]) => names.map(($id) => ({ $id }));
  return { name, incoming: places(incoming), outgoing: places(outgoing), steps, functions: [] };
};
