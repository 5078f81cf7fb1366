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
};

const types: Readonly<Record<string, DeviceType>> = {
  'cisco-asa': { form: 'sections', banners: false },
  'huawei-vrp': { form: 'sections', negation: 'undo' },
  'fortinet-fortios': { form: 'sections', negation: null },
  'mikrotik-routeros': { form: 'sections', negation: null },
  linux: { form: 'sections', negation: null },
  'juniper-junos': { form: 'braces', setForm: true },
  'f5-bigip': { form: 'braces', lineEnds: true },
  'paloalto-panos': { form: 'paths' },
  vyos: { form: 'paths' },
};

/** The facts of a type; `_` counts as `-`. Types without an entry are written in sections. */
export const deviceTypeOf = (name: string): DeviceType => {
  const type = name.replaceAll('_', '-');
  return (Object.hasOwn(types, type) ? types[type] : undefined) ?? { form: 'sections' };
};
