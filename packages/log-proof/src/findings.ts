/** The kinds of damage to a log. */
export type Kind = 'altered' | 'missing' | 'inserted' | 'reordered' | 'altered or reordered' | 'cut';

/** One finding: at a position, or somewhere from one position to another. */
export type Finding = {
  readonly position?: number;
  readonly from?: number;
  readonly to?: number;
  readonly stream?: string;
  readonly revision?: number;
  readonly finding: Kind;
  readonly message: string;
};

/** The coverage in numbers of events. `uncovered`: those that no signature proves. */
export type Coverage = { readonly verified: number; readonly signed: number; readonly uncovered: number };

/** Where a finding begins, for the order of findings. */
export const beginOf = ({ position, from }: Finding): number => position ?? from ?? 0;
