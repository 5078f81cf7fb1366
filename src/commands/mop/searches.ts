import { linearPattern, type Pattern, SchemaError } from '@automation-platform/bounded-schemas';
import { oneByOne } from '@automation-platform/concurrency';
import { LRUCache } from 'lru-cache';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import { type Find, type Flags, type Search, searchOf } from '../../domain/mop/searches.ts';

// In steps of the matcher. A step takes about a hundredth of a microsecond at worst.
const mostPerSearch = 20_000_000;
const mostInAll = 400_000_000;

const compiled = new LRUCache<string, Pattern>({ max: 500 });

/** Throws `invalid` for a pattern that cannot be used. */
const usablePattern = (text: string, flags: Omit<Search, 'pattern'>): Pattern => {
  try {
    return linearPattern(text, flags);
  } catch (error) {
    throw error instanceof SchemaError ? new RequestError('invalid', error.message) : error;
  }
};

const patternOf = ({ pattern, ...flags }: Search): Pattern => {
  const key = `${flags.ignoreCase} ${flags.multiline} ${flags.dotAll} ${pattern}`;
  const cachedPattern = compiled.get(key) ?? usablePattern(pattern, flags);
  compiled.set(key, cachedPattern);
  return cachedPattern;
};

/**
 * Searches in linear time, for one run. Throws `unprocessable` if one search, or all searches together, would take too
 * long.
 */
export const searching = (): Find => {
  let remaining = mostInAll;
  return (search, text) => {
    const { expression, instructions } = patternOf(search);
    const cost = (text.length + 1) * instructions;
    if (cost > mostPerSearch)
      throw new RequestError(
        'unprocessable',
        `An answer of ${text.length} characters is too long for the pattern ${search.pattern}`,
      );
    if (cost > remaining) throw new RequestError('unprocessable', 'All patterns and answers together are too large');
    remaining -= cost;
    const matcher = expression.matcher(text);
    return matcher.find()
      ? Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? undefined)
      : undefined;
  };
};

// In instructions. To compile one takes some ten microseconds.
const mostCompiled = 200_000;

/** The patterns of a template that cannot be used. A variable in a pattern counts as a letter. */
export const patternFaults = async (
  patterns: readonly { readonly path: string; readonly text: string; readonly flags?: Flags }[],
): Promise<readonly Fault[]> => {
  let remaining = mostCompiled;
  return (
    await oneByOne(patterns, ({ path, text, flags }): readonly Fault[] => {
      try {
        if (remaining <= 0) throw new RequestError('invalid', 'All patterns together are too large');
        remaining -= patternOf(searchOf(text.replace(/<![^<>!]+!>/g, 'x'), flags)).instructions;
        return [];
      } catch (error) {
        if (error instanceof RequestError) return [{ message: error.message, path }];
        throw error;
      }
    })
  ).flat();
};
