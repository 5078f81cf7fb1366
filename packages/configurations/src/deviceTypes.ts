/**
 * How the configurations of a type of devices are written. `sections`: by indentation. `braces`: blocks in braces.
 * `paths`: one whole path on each line.
 */
type Form = 'sections' | 'braces' | 'paths';

export type DeviceType = {
  readonly form: Form;
  /** In braces: true if a text may be in the set form instead. */
  readonly setForm?: boolean;
  /** In braces: true if the end of a line ends a statement. */
  readonly lineEnds?: boolean;
  /** In sections: false if a banner has no delimiter, so that each of its lines is an ordinary line. */
  readonly banners?: boolean;
  /** In sections: the word that takes a line away, `no` unless given; null: there is none. */
  readonly negation?: string | null;
  /** In sections: the line that ends the section of a line, by the word that this one begins with. */
  readonly ends?: Readonly<Record<string, string>>;
};

const sections: DeviceType = { form: 'sections' };

const types: Readonly<Record<string, DeviceType>> = {
  'a10-acos': sections,
  'alu-sr': sections,
  'arista-eos': sections,
  'cisco-asa': { form: 'sections', banners: false },
  'cisco-ios': sections,
  'cisco-ios-xr': sections,
  'cisco-iosxr': sections,
  'cisco-nx': sections,
  'cisco-nxos': sections,
  'cisco-staros': sections,
  'cisco-wlc': { form: 'sections', negation: null },
  'f5-bigip': { form: 'braces', lineEnds: true },
  'fortinet-fortios': { form: 'sections', negation: null, ends: { config: 'end', edit: 'next' } },
  'hp-procurve': sections,
  'huawei-vrp': { form: 'sections', negation: 'undo' },
  'juniper-junos': { form: 'braces', setForm: true },
  linux: { form: 'sections', negation: null },
  'mikrotik-routeros': { form: 'sections', negation: null },
  'nokia-sros': { form: 'sections', negation: null },
  'paloalto-panos': { form: 'paths' },
  vyos: { form: 'paths' },
};

/** The types whose texts are compared by a form of their own. */
export const comparedTypes: readonly string[] = Object.keys(types);

const writtenAs = (name: string): string => name.replaceAll('_', '-');

/** The facts of a type; `_` counts as `-`. Types without an entry are written in sections. */
export const deviceTypeOf = (name: string): DeviceType => {
  const type = writtenAs(name);
  return (Object.hasOwn(types, type) ? types[type] : undefined) ?? sections;
};

/** True for a name that means the same on each installation. */
export const isBuiltInType = (name: string): boolean => {
  const type = writtenAs(name);
  return type === 'json' || Object.hasOwn(types, type);
};
