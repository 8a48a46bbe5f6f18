/* SPDX-License-Identifier: MIT */
#include "quantile.h"

static void sift_down(double *values, int root, int count)
{
    double value = values[root];
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && values[child + 1] > values[child])
            child++;
        if (values[child] <= value)
            break;
        values[root] = values[child];
    }
    values[root] = value;
}

void quantile_sort(double *values, int count)
{
    for (int root = count / 2 - 1; root >= 0; root--)
        sift_down(values, root, count);
    for (int last = count - 1; last > 0; last--) {
        double highest = values[0];
        values[0] = values[last];
        values[last] = highest;
        sift_down(values, 0, last);
    }
}

double quantile_at(const double *sorted, int count, double q)
{
    return sorted[(int)(q * (count - 1) + 0.5)];
}

double quantile_trimmed_mean(double *values, int count)
{
    int cut = count / 8;
    double sum = 0;
    quantile_sort(values, count);
    for (int i = cut; i < count - cut; i++)
        sum += values[i];
    return sum / (count - 2 * cut);
}

double quantile_low_mean(double *values, int count)
{
    int first = count / 8, last = count * 5 / 8;
    double sum = 0;
    quantile_sort(values, count);
    for (int i = first; i <= last && i < count; i++)
        sum += values[i];
    return sum / (last - first + 1);
}

double quantile_mean_about(double *values, int count, double reach)
{
    double sum = 0;
    int near = 0;
    quantile_sort(values, count);
    double middle = values[count / 2];
    for (int i = 0; i < count; i++) {
        if (values[i] < middle - reach || values[i] > middle + reach)
            continue;
        sum += values[i];
        near++;
    }
    return sum / near;
}
