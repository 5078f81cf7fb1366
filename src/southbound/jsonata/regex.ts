import { RE2JS } from 're2js';

const flagsOf = ({ ignoreCase, multiline, dotAll }: RegExp): number =>
  (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0) | (dotAll ? RE2JS.DOTALL : 0);

const compiled = new WeakMap<RegExp, RE2JS>();

/** A regular expression that is matched in linear time. JSONata uses no other methods than `exec`. */
export class LinearRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    let expression = compiled.get(this);
    if (!expression) {
      expression = RE2JS.compile(RE2JS.translateRegExp(this.source), flagsOf(this));
      compiled.set(this, expression);
    }
    const matcher = expression.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const [whole = '', ...groups] = Array.from(
      { length: matcher.groupCount() + 1 },
      // The types of RegExp say that groups are texts. One that took no part is undefined.
      (_, i) => (matcher.group(i) ?? undefined) as string,
    );
    return Object.assign([whole, ...groups] as [string, ...string[]], { index: matcher.start(), input: text });
  }
}
