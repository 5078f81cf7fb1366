import type { Operator } from '../values/arithmetic.ts';
import type { Value } from '../values/values.ts';

export type CallArguments = {
  readonly args: readonly Expression[];
  readonly kwargs: readonly (readonly [string, Expression])[];
  readonly allArgs: Expression | undefined;
  readonly allKwargs: Expression | undefined;
};

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

type At = { readonly line: number };

type NameNode = At & { readonly node: 'name'; readonly name: string };
export type CallNode = At & CallArguments & { readonly node: 'call'; readonly callee: Expression };
/** `of` is undefined if the filter works on the text of a block. */
export type FilterNode = At &
  CallArguments & { readonly node: 'filter'; readonly name: string; readonly of: Expression | undefined };

export type Expression =
  | NameNode
  | CallNode
  | FilterNode
  | (At & { readonly node: 'constant'; readonly value: Value })
  | (At & { readonly node: 'list' | 'tuple'; readonly items: readonly Expression[] })
  | (At & { readonly node: 'dict'; readonly pairs: readonly (readonly [Expression, Expression])[] })
  | (At & { readonly node: 'attribute'; readonly of: Expression; readonly name: string })
  | (At & { readonly node: 'item'; readonly of: Expression; readonly key: Expression })
  | (At & {
      readonly node: 'slice';
      readonly of: Expression;
      readonly start: Expression | undefined;
      readonly stop: Expression | undefined;
      readonly step: Expression | undefined;
    })
  | (At & CallArguments & { readonly node: 'test'; readonly name: string; readonly of: Expression })
  | (At & {
      readonly node: 'binary';
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    })
  | (At & { readonly node: 'sign'; readonly sign: '-' | '+'; readonly of: Expression })
  | (At & { readonly node: 'not'; readonly of: Expression })
  | (At & { readonly node: 'and' | 'or'; readonly left: Expression; readonly right: Expression })
  | (At & {
      readonly node: 'compare';
      readonly first: Expression;
      readonly rest: readonly (readonly [Comparison, Expression])[];
    })
  | (At & { readonly node: 'concat'; readonly parts: readonly Expression[] })
  | (At & {
      readonly node: 'condition';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression | undefined;
    });

export type Target =
  | NameNode
  | (At & { readonly node: 'targets'; readonly items: readonly Target[] })
  | (At & { readonly node: 'member'; readonly name: string; readonly attribute: string });

/** The parameters and body of a macro or call block. */
export type Signature = {
  readonly parameters: readonly string[];
  readonly defaults: readonly Expression[];
  readonly uses: ReadonlySet<string>;
  readonly body: Body;
};

export type Body = readonly Statement[];

export type BlockNode = At & {
  readonly node: 'block';
  readonly name: string;
  readonly scoped: boolean;
  readonly required: boolean;
  /** True if there is a `super`: only if the body reads it. */
  readonly readsSuper: boolean;
  readonly body: Body;
};

/** A parsed template. */
export type Tree = {
  readonly body: Body;
  /** All blocks by name, also those within other statements. */
  readonly blocks: ReadonlyMap<string, BlockNode>;
  /** True if it has an `extends`, if only in a condition. */
  readonly extends: boolean;
  /** The names of other templates that it says literally. */
  readonly names: ReadonlySet<string>;
};

export type Statement =
  | (At & { readonly node: 'data'; readonly text: string })
  | (At & { readonly node: 'print'; readonly value: Expression })
  | (At & {
      readonly node: 'for';
      readonly target: Target;
      readonly over: Expression;
      readonly test: Expression | undefined;
      readonly recursive: boolean;
      /** True if there is a `loop`: only if the body reads it, or has a scoped block. */
      readonly extended: boolean;
      readonly body: Body;
      readonly otherwise: Body;
    })
  | (At & {
      readonly node: 'if';
      readonly branches: readonly { readonly test: Expression; readonly body: Body; readonly line: number }[];
      readonly otherwise: Body;
    })
  | (At & { readonly node: 'set'; readonly target: Target; readonly value: Expression })
  | (At & {
      readonly node: 'setBlock';
      readonly target: Target;
      readonly filter: FilterNode | undefined;
      readonly body: Body;
    })
  | (At & { readonly node: 'with'; readonly targets: readonly (readonly [Target, Expression])[]; readonly body: Body })
  | (At & { readonly node: 'macro'; readonly name: string; readonly signature: Signature })
  | (At & { readonly node: 'callBlock'; readonly call: CallNode; readonly signature: Signature })
  | (At & { readonly node: 'filterBlock'; readonly filter: FilterNode; readonly body: Body })
  | BlockNode
  | (At & { readonly node: 'extends'; readonly template: Expression })
  | (At & {
      readonly node: 'include';
      readonly template: Expression;
      readonly ignoreMissing: boolean;
      readonly withContext: boolean;
    })
  | (At & {
      readonly node: 'import';
      readonly template: Expression;
      readonly name: string;
      readonly withContext: boolean;
    })
  | (At & {
      readonly node: 'from';
      readonly template: Expression;
      /** The names there and here. */
      readonly names: readonly (readonly [string, string])[];
      readonly withContext: boolean;
    })
  | (At & { readonly node: 'autoescape'; readonly value: Expression; readonly body: Body })
  | (At & { readonly node: 'do'; readonly value: Expression })
  | (At & { readonly node: 'break' | 'continue' });
