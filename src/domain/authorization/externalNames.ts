/** The most groups that a provider may give a person. */
export const mostExternalGroups = 5_000;

/** A name as the platform takes it; undefined if it cannot be one. Names that are equal by NFKC are one. */
export const externalName = (text: string | undefined): string | undefined => {
  const name = text?.normalize('NFKC');
  return name !== undefined && /^[^\u0000-\u001f\u007f]{1,256}$/.test(name) ? name : undefined;
};

/** The same for the name of a person: `provider\name` and `name:password` are read at their first separator. */
export const externalUsername = (text: string | undefined): string | undefined => {
  const name = externalName(text);
  return name === undefined || /[:\\]/.test(name) ? undefined : name;
};
