/**
 * JSON text that is the same for equal values (RFC 8785): members sorted by name, no white space. The argument must be
 * a JSON value.
 */
export const canonical = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  let members = '';
  for (const name of Object.keys(value).sort()) {
    const member: unknown = value[name as keyof typeof value];
    if (member !== undefined) members += `${members && ','}${JSON.stringify(name)}:${canonical(member)}`;
  }
  return `{${members}}`;
};
