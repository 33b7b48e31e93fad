/* The sweep of all states of a Boolean plant as one writes it in C: the rival of ascertain.kernels.worlds.sweep_states.
   Same method: tiles of 64-state words, bit-sliced counters that carry out when a state is beaten, empty words squeezed
   out, the last few states one by one. Gates are rows (op, target, source, source); see kernels/boolean_code.py. */
#include <stdint.h>
#include <string.h>

#define TILE 256
#define FEW 2
#define MAX_BITS 30
#define MAX_PLANES 12

enum { AND, OR, XOR, NOT, COPY, SET, CLEAR, CNOT, TOFFOLI };
typedef uint64_t word_t;

static word_t tile[MAX_BITS][TILE], planes[MAX_PLANES][TILE], left[TILE];
static int32_t origin[TILE], kept[TILE];

static void gate_on_tile(const int32_t *g, int width) {
    word_t *restrict t = tile[g[1]];
    const word_t *a = tile[g[2]], *b = tile[g[3]];
    int w;
    switch (g[0]) {
    case AND: for (w = 0; w < width; w++) t[w] = a[w] & b[w]; break;
    case OR: for (w = 0; w < width; w++) t[w] = a[w] | b[w]; break;
    case XOR: for (w = 0; w < width; w++) t[w] = a[w] ^ b[w]; break;
    case NOT: for (w = 0; w < width; w++) t[w] = ~t[w]; break;
    case COPY: for (w = 0; w < width; w++) t[w] = a[w]; break;
    case SET: for (w = 0; w < width; w++) t[w] = ~(word_t)0; break;
    case CLEAR: for (w = 0; w < width; w++) t[w] = 0; break;
    case CNOT: for (w = 0; w < width; w++) t[w] ^= a[w]; break;
    case TOFFOLI: for (w = 0; w < width; w++) t[w] ^= a[w] & b[w]; break;
    }
}

static word_t gate_on_state(const int32_t *g, word_t s) {
    word_t a = s >> g[2] & 1, b = s >> g[3] & 1, bit = (word_t)1 << g[1];
    switch (g[0]) {
    case AND: return (s & ~bit) | (a & b) << g[1];
    case OR: return (s & ~bit) | (a | b) << g[1];
    case XOR: return (s & ~bit) | (a ^ b) << g[1];
    case NOT: return s ^ bit;
    case COPY: return (s & ~bit) | a << g[1];
    case SET: return s | bit;
    case CLEAR: return s & ~bit;
    case CNOT: return s ^ a << g[1];
    default: return s ^ (a & b) << g[1];
    }
}

static void count_mismatches(const word_t *tapped, word_t read, int num_planes, int width) {
    word_t carry[TILE];
    if (num_planes == 3) {
        for (int w = 0; w < width; w++) {
            word_t m = tapped[w] ^ read, x = planes[0][w], y = planes[1][w], z = planes[2][w];
            planes[0][w] = x ^ m;
            planes[1][w] = y ^ (m &= x);
            planes[2][w] = z ^ (m &= y);
            left[w] &= ~(m & z);
        }
        return;
    }
    for (int w = 0; w < width; w++) carry[w] = tapped[w] ^ read;
    for (int j = 0; j < num_planes; j++)
        for (int w = 0; w < width; w++) {
            word_t x = planes[j][w];
            planes[j][w] = x ^ carry[w];
            carry[w] &= x;
        }
    for (int w = 0; w < width; w++) left[w] &= ~carry[w];
}

static void lower_counters(int by, int num_planes, int width) {
    word_t borrow[TILE] = {0};
    for (int j = 0; j < num_planes; j++) {
        word_t bit = by >> j & 1 ? ~(word_t)0 : 0;
        for (int w = 0; w < width; w++) {
            word_t x = planes[j][w], b = borrow[w];
            planes[j][w] = x ^ bit ^ b;
            borrow[w] = (~x & (bit | b)) | (bit & b);
        }
    }
}

static int squeeze(int num_bits, int num_planes, int width) {
    int size = 0;
    for (int w = 0; w < width; w++)
        if (left[w]) { kept[size] = w; origin[size++] = origin[w]; }
    for (int i = 0; i < num_bits; i++) for (int v = 0; v < size; v++) tile[i][v] = tile[i][kept[v]];
    for (int j = 0; j < num_planes; j++) for (int v = 0; v < size; v++) planes[j][v] = planes[j][kept[v]];
    for (int v = 0; v < size; v++) left[v] = left[kept[v]];
    return size;
}

int64_t sweep(const int32_t *gates, const int32_t *offset, const int32_t *tap, int num_bits, const int32_t *commands,
              const int32_t *readings, const int64_t *threshold, int last, int num_planes, int64_t first_word,
              int64_t num_words, word_t *hypothesis, word_t *current, int64_t *count) {
    int64_t size = 0;
    for (int64_t low = 0; low < num_words; low += TILE) {
        int width = num_words - low < TILE ? (int)(num_words - low) : TILE, i = 0;
        for (int b = 0; b < num_bits; b++) {
            word_t pattern = 0;
            for (int j = 0; j < 64 && b < 6; j++) pattern |= (word_t)(j >> b & 1) << j;
            for (int w = 0; w < width; w++)
                tile[b][w] = b < 6 ? pattern : (first_word + low + w) >> (b - 6) & 1 ? ~(word_t)0 : 0;
        }
        int start = (1 << num_planes) - (int)threshold[0];
        for (int j = 0; j < num_planes; j++) memset(planes[j], start >> j & 1 ? 255 : 0, width * sizeof(word_t));
        memset(left, 255, width * sizeof(word_t));
        for (int w = 0; w < width; w++) origin[w] = (int32_t)(low + w);
        while (i < last) {
            if (i && threshold[i] > threshold[i - 1])
                lower_counters((int)(threshold[i] - threshold[i - 1]), num_planes, width);
            int c = commands[i];
            for (int g = offset[c]; g < offset[c + 1]; g++) gate_on_tile(gates + 4 * g, width);
            count_mismatches(tile[tap[c]], readings[i] ? ~(word_t)0 : 0, num_planes, width);
            i++;
            int words = 0;
            for (int w = 0; w < width; w++) words += left[w] != 0;
            if (2 * words <= width) {
                width = squeeze(num_bits, num_planes, width);
                if (width <= FEW) break;
            }
        }
        for (int w = 0; w < width; w++)
            for (word_t rest = left[w]; rest; rest &= rest - 1) {
                int b = __builtin_ctzll(rest);
                int64_t k = threshold[i - 1] - (1 << num_planes);
                word_t s = 0;
                for (int j = 0; j < num_planes; j++) k += (int64_t)(planes[j][w] >> b & 1) << j;
                for (int n = 0; n < num_bits; n++) s |= (tile[n][w] >> b & 1) << n;
                int beaten = 0;
                for (int t = i; t < last && !beaten; t++) {
                    int c = commands[t];
                    for (int g = offset[c]; g < offset[c + 1]; g++) s = gate_on_state(gates + 4 * g, s);
                    if ((int32_t)(s >> tap[c] & 1) != readings[t]) beaten = ++k >= threshold[t];
                }
                if (!beaten) {
                    hypothesis[size] = (word_t)(first_word + origin[w]) << 6 | (word_t)b;
                    current[size] = s;
                    count[size++] = k;
                }
            }
    }
    return size;
}
