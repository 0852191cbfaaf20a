// @ts-check
// The map: up to a few hundred thousand rows as small shapes, written into the pixels of a canvas.

/** Colours that colour-blind people can tell apart (Okabe and Ito), for light and dark paper. */
const COLOURS = [
  [0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [140, 108, 60], [120, 94, 240],
];
/**
 * Shapes beside the colours: inside or not, for x and y from −1 to 1. Their names go into labels.
 * @type {[string, (x: number, y: number) => boolean][]}
 */
const SHAPES = [
  ["circle", (x, y) => x * x + y * y <= 1],
  ["square", (x, y) => Math.max(Math.abs(x), Math.abs(y)) <= 0.85],
  ["triangle", (x, y) => y <= 0.8 && y >= -1 && Math.abs(x) <= (y + 1) / 1.8],
  ["diamond", (x, y) => Math.abs(x) + Math.abs(y) <= 1.15],
  ["cross", (x, y) => Math.min(Math.abs(x), Math.abs(y)) <= 0.36 && Math.max(Math.abs(x), Math.abs(y)) <= 1],
  ["bar", (x, y) => Math.abs(y) <= 0.45 && Math.abs(x) <= 1],
  ["pillar", (x, y) => Math.abs(x) <= 0.45 && Math.abs(y) <= 1],
];
export const NONE = 255;
const LEVELS = 8;

/** @param {number} code */
export const colourOf = (code) => COLOURS[code % COLOURS.length];
/** @param {number} code */
export const shapeOf = (code) => SHAPES[code % SHAPES.length];

/** @param {string} name */
const paper = (name) => {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = text.length === 4;
  const part = (/** @type {number} */ k) => parseInt(short ? text[k + 1] + text[k + 1] : text.slice(2 * k + 1, 2 * k + 3), 16);
  return [part(0), part(1), part(2)];
};
/** @param {number[]} colour */
const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
/** @param {number[]} a @param {number[]} b @param {number} share */
const mixed = (a, b, share) => a.map((value, k) => Math.round(value * (1 - share) + b[k] * share));

export class RowMap {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.places = new Float32Array(0);
    this.given = new Uint8Array(0);
    this.codes = new Uint8Array(0);
    this.certainty = new Uint8Array(0);
    /** @type {Set<number>} */ this.selected = new Set();
    /** @type {number[][]} */ this.lasso = [];
    this.focus = -1;
    this.scale = 1;
    this.middle = [0, 0];
    this.frames = 0;
    this.asked = false;
    /** @type {() => void} */ this.drawn = () => {};
    /** @type {Map<string, Int16Array>} */ this.stamps = new Map();
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    this.recolour();
    this.resize();
  }

  get rows() { return this.places.length / 2; }
  /** Pixels of the canvas for a unit of the map. */
  get unit() { return 0.44 * Math.min(this.canvas.width, this.canvas.height) * this.scale; }

  resize() {
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * this.ratio));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * this.ratio));
    this.image = this.context.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.draw();
  }

  /** The colours of all classes and certainties on this paper. */
  recolour() {
    const ground = paper("--stage");
    this.ground = packed(ground);
    this.ring = packed(paper("--ring"));
    this.accent = packed(paper("--strong"));
    this.blank = packed(mixed(paper("--none"), ground, 0.25));
    this.palette = COLOURS.map((colour) => Array.from({ length: LEVELS }, (_, k) => packed(mixed(ground, colour, 0.3 + 0.7 * (k + 1) / LEVELS))));
    this.draw();
  }

  /** Draw before the next frame; calls in between count once. */
  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.drawNow(); });
  }

  drawNow() {
    if (!this.pixels || !this.image) return;
    const { pixels, canvas } = this;
    pixels.fill(this.ground || 0);
    const radius = this.radius(), n = this.rows, unit = this.unit;
    const left = canvas.width / 2 - this.middle[0] * unit, top = canvas.height / 2 + this.middle[1] * unit;
    const some = [], width = canvas.width, edge = Math.ceil(radius) + 1;
    const stamps = SHAPES.map((_, shape) => this.steps(shape, radius));
    for (let i = 0; i < n; i++) {
      const x = left + this.places[2 * i] * unit, y = top - this.places[2 * i + 1] * unit;
      if (!(x > -9 && y > -9 && x < canvas.width + 9 && y < canvas.height + 9)) continue;
      if (this.given[i] !== NONE && this.given.length) { some.push(i); continue; }
      const code = this.codes.length ? this.codes[i] : NONE;
      const value = (code === NONE ? this.blank : this.shade(code, this.certainty[i])) || 0;
      if (x > edge && y > edge && x < width - edge && y < canvas.height - edge) {
        const at = stamps[code === NONE ? 0 : code % SHAPES.length], first = (y | 0) * width + (x | 0);
        for (let k = 0; k < at.length; k++) pixels[first + at[k]] = value;
      } else {
        this.stamp(x, y, radius, code, value);
      }
    }
    for (const i of some) this.stampGiven(left + this.places[2 * i] * unit, top - this.places[2 * i + 1] * unit, radius, this.given[i]);
    for (const i of this.selected) this.circle(left + this.places[2 * i] * unit, top - this.places[2 * i + 1] * unit, radius + 5);
    this.context.putImageData(this.image, 0, 0);
    this.drawLasso();
    this.frames += 1;
    this.drawn();
  }

  /** @param {number} code @param {number} certainty */
  shade(code, certainty) {
    const levels = /** @type {number[][]} */ (this.palette)[code % COLOURS.length];
    return levels[Math.min(LEVELS - 1, certainty >> 5)];
  }

  radius() {
    const spread = Math.sqrt(this.canvas.width * this.canvas.height / Math.max(this.rows, 1));
    return Math.max(1.6, Math.min(6, 0.16 * spread * Math.sqrt(this.scale))) * Math.sqrt(this.ratio || 1);
  }

  /** Offsets of the pixels of a shape. @param {number} code @param {number} radius */
  offsets(code, radius) {
    const shape = code === NONE ? 0 : code % SHAPES.length, key = `${shape} ${radius.toFixed(1)}`;
    let found = this.stamps.get(key);
    if (!found) {
      const [, inside] = shapeOf(shape), list = [], edge = Math.ceil(radius + 1);
      for (let y = -edge; y <= edge; y++) for (let x = -edge; x <= edge; x++) if (inside(x / radius, y / radius)) list.push(x, y);
      found = Int16Array.from(list);
      if (this.stamps.size > 300) this.stamps.clear();
      this.stamps.set(key, found);
    }
    return found;
  }

  /** The same as steps from one pixel to others, for shapes that no edge cuts. @param {number} code @param {number} radius */
  steps(code, radius) {
    const at = this.offsets(code, radius), found = new Int32Array(at.length / 2);
    for (let k = 0; k < found.length; k++) found[k] = at[2 * k + 1] * this.canvas.width + at[2 * k];
    return found;
  }

  /** @param {number} x @param {number} y @param {number} radius @param {number} code @param {number | undefined} colour */
  stamp(x, y, radius, code, colour) {
    const at = this.offsets(code, radius), width = this.canvas.width, height = this.canvas.height, pixels = /** @type {Uint32Array} */ (this.pixels);
    const left = x | 0, top = y | 0, value = colour || 0;
    for (let k = 0; k < at.length; k += 2) {
      const u = left + at[k], v = top + at[k + 1];
      if (u >= 0 && v >= 0 && u < width && v < height) pixels[v * width + u] = value;
    }
  }

  /** A row whose class a person gave: larger, with a ring. @param {number} x @param {number} y @param {number} radius @param {number} code */
  stampGiven(x, y, radius, code) {
    this.stamp(x, y, radius + 4, code, this.ring);
    this.stamp(x, y, radius + 2.4, code, this.shade(code, 255));
  }

  /** @param {number} x @param {number} y @param {number} radius */
  circle(x, y, radius) {
    const width = this.canvas.width, height = this.canvas.height, pixels = /** @type {Uint32Array} */ (this.pixels);
    for (let k = 0; k < 48; k++) for (let r = radius; r < radius + 2; r++) {
      const u = Math.round(x + r * Math.cos(k * Math.PI / 24)), v = Math.round(y + r * Math.sin(k * Math.PI / 24));
      if (u >= 0 && v >= 0 && u < width && v < height) pixels[v * width + u] = this.accent || 0;
    }
  }

  drawLasso() {
    if (this.lasso.length < 2) return;
    const pen = this.context;
    pen.beginPath();
    for (const [x, y] of this.lasso) pen.lineTo(x * (this.ratio || 1), y * (this.ratio || 1));
    pen.closePath();
    pen.fillStyle = "rgba(86, 180, 233, .2)";
    pen.strokeStyle = "rgb(0, 114, 178)";
    pen.lineWidth = 1.5 * (this.ratio || 1);
    pen.fill();
    pen.stroke();
  }

  /** Where a row is, in CSS pixels. @param {number} row */
  where(row) {
    const ratio = this.ratio || 1;
    return [
      (this.canvas.width / 2 + (this.places[2 * row] - this.middle[0]) * this.unit) / ratio,
      (this.canvas.height / 2 - (this.places[2 * row + 1] - this.middle[1]) * this.unit) / ratio,
    ];
  }

  /** The row nearest to a point in CSS pixels, −1 where none is near. @param {number} x @param {number} y */
  nearest(x, y, most = 14) {
    const ratio = this.ratio || 1;
    let best = -1, least = most * most;
    for (let i = 0; i < this.rows; i++) {
      const [u, v] = [(this.canvas.width / 2 + (this.places[2 * i] - this.middle[0]) * this.unit) / ratio - x, (this.canvas.height / 2 - (this.places[2 * i + 1] - this.middle[1]) * this.unit) / ratio - y];
      const far = u * u + v * v;
      if (far < least) { least = far; best = i; }
    }
    return best;
  }

  /** Rows within a polygon of CSS pixels. @param {number[][]} polygon */
  within(polygon) {
    const found = [], ratio = this.ratio || 1, n = polygon.length;
    const xs = polygon.map(([x]) => x), ys = polygon.map(([, y]) => y);
    const low = [Math.min(...xs), Math.min(...ys)], high = [Math.max(...xs), Math.max(...ys)];
    for (let i = 0; i < this.rows; i++) {
      const x = (this.canvas.width / 2 + (this.places[2 * i] - this.middle[0]) * this.unit) / ratio;
      const y = (this.canvas.height / 2 - (this.places[2 * i + 1] - this.middle[1]) * this.unit) / ratio;
      if (!(x >= low[0] && y >= low[1] && x <= high[0] && y <= high[1])) continue;
      let inside = false;
      for (let a = 0, b = n - 1; a < n; b = a++) {
        if (ys[a] > y !== ys[b] > y && x < (xs[b] - xs[a]) * (y - ys[a]) / (ys[b] - ys[a]) + xs[a]) inside = !inside;
      }
      if (inside) found.push(i);
    }
    return found;
  }

  /** Zoom about a point in CSS pixels. @param {number} factor @param {number} x @param {number} y */
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const ratio = this.ratio || 1, before = this.unit;
    this.scale = Math.max(0.5, Math.min(400, this.scale * factor));
    const dx = x * ratio - this.canvas.width / 2, dy = y * ratio - this.canvas.height / 2;
    this.middle[0] += dx / before - dx / this.unit;
    this.middle[1] -= dy / before - dy / this.unit;
    this.draw();
  }

  /** Move by CSS pixels. @param {number} dx @param {number} dy */
  pan(dx, dy) {
    const ratio = this.ratio || 1;
    this.middle[0] -= dx * ratio / this.unit;
    this.middle[1] += dy * ratio / this.unit;
    this.draw();
  }

  whole() { this.scale = 1; this.middle = [0, 0]; this.draw(); }

  /** Bring a row into view. @param {number} row */
  show(row) {
    const [x, y] = this.where(row), w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (x < 8 || y < 8 || x > w - 8 || y > h - 8) this.middle = [this.places[2 * row], this.places[2 * row + 1]];
    this.draw();
  }
}
